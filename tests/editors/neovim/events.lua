-- A client that shows events answers a command's approval by a request, with no prompt.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.person(function()
    error("nobody is prompted")
  end)
  t.open("code.py", true)
  local session = t.ask("turnbuckle/session/open", vim.empty_dict()).result.sessionId
  t.ask("turnbuckle/session/events", { sessionId = session, token = "events" })
  local input = { { type = "text", text = "Run it" } }
  local params = { sessionId = session, key = "one", input = input }
  local ended
  t.client:request("turnbuckle/turn", params, function(_, result)
    ended = result
  end, t.buffer)
  local asked = t.fact("approval/asked")
  t.same("echo ran > ran", asked.subject.command, "what is asked")
  t.same(nil, vim.uv.fs_stat("ran"), "nothing ran yet")

  local decision = { approvalId = asked.approvalId, decision = "allow" }
  t.same(true, t.ask("turnbuckle/approve", decision).result.accepted, "accepted")

  t.wait("the end of the turn", function()
    return ended
  end)
  t.same("turn/end", t.facts[#t.facts].type, "the last fact before the answer")
  t.same("ran", vim.fn.readfile("ran")[1], "what the command left")
end)
