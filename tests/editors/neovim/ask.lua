-- A code action asks about a place; progress streams; the answer is shown in a window.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers()
  t.open("code.py")
  local before = t.text()
  t.pick(2, "Ask the agent")

  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same("begin", t.progress[1].kind, "the first of the progress")
  t.same("end", t.progress[#t.progress].kind, "the last of the progress")
  local messages = vim.tbl_map(function(value)
    return value.message
  end, t.progress)
  assert(vim.tbl_contains(messages, "list_files"), "a tool is named: " .. vim.inspect(messages))
  t.shown(".md", "It divides by zero.")
  t.same(before, t.text(), "the person's text")
end)
