-- An edit of three places is shown, allowed and made.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers("Allow once", "Show…")
  t.open("code.py")
  local saved = t.disk("code.py")
  t.type(1, 0, "# typed, not saved\n")
  local before = t.text()
  local after = before:gsub("/0", "")
  vim.cmd("Agent Mend it")

  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same(after, t.text(), "the text")
  t.same(2, #t.prompts, "prompts")
  t.same({ "Show…", "Reject" }, t.prompts[1].titles, "the first prompt")
  local titles = { "Show…", "Allow once", "Allow for this session", "Reject" }
  t.same(titles, t.prompts[2].titles, "the second prompt")
  t.shown(".diff", "-    return 1/0\n+    return 1\n")

  t.same(saved, t.disk("code.py"), "the file before it is saved")
  t.normal("undo")
  t.same(before, t.text(), "one undo takes all of the edit back, and nothing else")
  t.logged("edit/undone")
  t.normal("redo")
  t.normal("write")
  t.same(after .. "\n", t.disk("code.py"), "the file once it is saved")
end)
