-- What was applied is undone by the editor, by an action and by a command.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers()
  t.open("code.py")
  local before = t.text()
  vim.cmd("Agent Mend it")
  t.logged("approval/asked")

  t.pick(2, "Accept")
  t.logged("edit/applied")
  t.same((before:gsub("1/0", "1")), t.text(), "after the first")
  t.normal("undo")
  t.same(before, t.text(), "after the editor's undo")
  t.logged("edit/undone")

  t.pick(8, "Accept")
  t.logged("edit/applied", 2)
  t.same((before:gsub("2/0", "2")), t.text(), "after the second")
  t.pick(8, "Undo")
  t.logged("edit/undone", 2)
  t.same(before, t.text(), "after the action")

  t.command("turnbuckle.acceptHunk") -- the only one that is left
  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same((before:gsub("3/0", "3")), t.text(), "after the third")
  t.command("turnbuckle.undoHunk") -- the only one that stands
  t.logged("edit/undone", 3)
  t.same(before, t.text(), "after the command")

  vim.cmd("Agent And now?")
  t.same("completed", t.ended(2).message, "how the second turn ended")
end)
