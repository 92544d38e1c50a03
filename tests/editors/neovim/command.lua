-- A prompt that was left on the screen is answered by a command; a late click is harmless.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers()
  t.open("code.py")
  vim.cmd("Agent Run it")
  t.wait("a prompt", function()
    return t.prompts[1]
  end)
  t.same(nil, vim.uv.fs_stat("ran"), "nothing ran yet")

  vim.cmd("AgentApprove") -- without an id it only asks again
  t.wait("a second prompt", function()
    return t.prompts[2]
  end)
  t.same({}, t.stored("approval/decided"), "what is decided yet")
  local id = t.logged("approval/asked").approvalId
  t.same("allowed", t.command("turnbuckle.approve", { approvalId = id }).outcome, "what came of it")
  t.same("completed", t.ended(1).message, "how the turn ended")
  t.prompts[2].answer({ title = "Reject" }, 4)
  t.same("settled", t.command("turnbuckle.reject", { approvalId = id }).outcome, "once more")
  t.same("ran\n", t.disk("ran"), "what the command left")
end)
