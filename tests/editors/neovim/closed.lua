-- Files that are not open are edited on disk.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers("Allow once", "Show…")
  t.open("code.py")
  local before = t.text()
  vim.cmd("Agent Mend the other one")
  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same(0, vim.fn.bufexists("other.txt"), "a buffer for it")
  t.same(before, t.text(), "the person's text")
end)
