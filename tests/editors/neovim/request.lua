-- A turn of a plugin's own is cancelled as a request is, and the next one works.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers()
  t.open("code.py")
  local session = t.ask("turnbuckle/session/open", vim.empty_dict()).result.sessionId
  local params = {
    sessionId = session,
    key = "first",
    input = { { type = "text", text = "Talk" } },
    partialResultToken = "turn",
  }
  local _, request = t.client:request("turnbuckle/turn", params, function() end, t.buffer)
  t.wait("some text", function()
    for _, fact in ipairs(t.facts) do
      if fact.type == "assistant/chunk" then
        return true
      end
    end
  end)
  t.client:cancel_request(request) -- its answer is swallowed here; the events tell the end
  t.same({ kind = "aborted", cause = "user" }, t.fact("turn/end")["end"], "how the turn ended")

  params.key, params.partialResultToken, params.input[1].text = "second", nil, "Be short"
  local answer = t.ask("turnbuckle/turn", params)
  t.same("completed", answer.result["end"].kind, "how the second turn ended")
end)
