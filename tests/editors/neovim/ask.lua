-- A code action asks about a selection; progress streams; the answer is shown in a window.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.person(function()
    return "Ask the agent"
  end)
  t.open("code.py")
  t.ask_about({ 2, 4 }, { 2, 14 })

  t.same("completed", t.ended(1).message, "how the turn ended")
  local kinds = vim.tbl_map(function(value)
    return value.kind
  end, t.progress)
  t.same("begin", kinds[1], "the first of the progress")
  t.same("end", kinds[#kinds], "the last of the progress")
  local messages = vim.tbl_map(function(value)
    return value.message
  end, t.progress)
  assert(vim.tbl_contains(messages, "list_files"), "a tool is named: " .. vim.inspect(messages))
  t.shown(".md", "It divides by zero.")
  t.same("def f():\n    return 1/0", t.text(), "the person's text")
end)
