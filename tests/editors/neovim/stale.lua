-- The person types inside a place: it is not made, until that is undone.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers()
  t.open("code.py")
  local before = t.text()
  vim.cmd("Agent Mend it")
  local hunks = t.logged("approval/asked").subject.files[1].hunks

  t.type(2, 11, "7+")
  t.type(8, 11, "7+")
  t.normal("undo")
  t.same((before:gsub("1/0", "7+1/0")), t.text(), "what was typed")
  local accept = { hunkId = hunks[1].hunkId }
  t.same("stale", t.command("turnbuckle.acceptHunk", accept).outcome, "the place that was typed in")
  t.pick(8, "Accept") -- what was typed there is undone, so it can be made again
  t.logged("edit/applied")
  t.pick(14, "Accept")
  t.logged("edit/applied", 2)
  t.pick(2, "Reject")

  t.same("completed", t.ended(1).message, "how the turn ended")
  local after = before:gsub("1/0", "7+1/0"):gsub("2/0", "2"):gsub("3/0", "3")
  t.same(after, t.text(), "the text")
end)
