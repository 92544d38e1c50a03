-- The agent sees what is not saved, and is told that a command does not.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers("Allow once", "Show…")
  t.open("code.py")
  t.type(1, 0, "# typed, not saved\n")
  local before = t.text()
  vim.cmd("Agent Look at it")
  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same(before, t.text(), "the person's text")
  t.same(true, vim.bo[t.buffer].modified, "whether it is still unsaved")
end)
