-- An edit is rejected in its prompt, a prompt is dismissed, a third is rejected by a command.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.open("code.py")
  local before, tick = t.text(), vim.b[t.buffer].changedtick

  t.answers("Reject")
  vim.cmd("Agent Mend it")
  t.same("completed", t.ended(1).message, "how the first turn ended")
  t.answers()
  vim.cmd("Agent Mend it otherwise")
  t.wait("a second prompt", function()
    return t.prompts[2]
  end)
  vim.cmd("AgentReject")
  t.same("completed", t.ended(2).message, "how the second turn ended")

  t.same(before, t.text(), "the text")
  t.same(tick, vim.b[t.buffer].changedtick, "nothing was changed and changed back")
  t.same(false, vim.bo[t.buffer].modified, "modified")
end)
