-- One place of three is accepted where it stands.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers()
  t.open("code.py")
  local before = t.text()
  local after = before:gsub("2/0", "2")
  vim.cmd("Agent Mend it")
  t.wait("three hints", function()
    return #t.hints() == 3
  end)
  local marked = { { 2, "+1 −1: return 1" }, { 8, "+1 −1: return 2" }, { 14, "+1 −1: return 3" } }
  t.same(marked, t.hints(), "the hints")

  t.lens(8, "+1 −1 Accept")
  t.logged("edit/applied")
  t.same(after, t.text(), "after one was accepted")
  t.pick(2, "Reject")
  t.same("rejected", t.command("turnbuckle.rejectHunk").outcome, "the only one that is left")

  t.same("completed", t.ended(1).message, "how the turn ended")
  t.wait("no hints", function()
    return #t.hints() == 0
  end)
  t.same(after, t.text(), "the text")
end)
