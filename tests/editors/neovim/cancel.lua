-- A turn is cancelled by its progress and by its request; both end it, and the next one works.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.person(function()
    return "Ask the agent"
  end)
  t.open("code.py")

  t.ask_about({ 1, 0 }, { 1, 3 })
  local begin = t.wait("a model that is asked", function()
    for _, value in ipairs(t.progress) do
      if value.message == "asking played" then
        return value
      end
    end
  end)
  t.client:notify("window/workDoneProgress/cancel", { token = begin.token })
  t.same("aborted", t.ended(1).message, "how the first turn ended")

  local session = t.ask("turnbuckle/session/open", vim.empty_dict()).result.sessionId
  local params = {
    sessionId = session,
    key = "second",
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

  params.key, params.partialResultToken, params.input[1].text = "third", nil, "Be short"
  local answer = t.ask("turnbuckle/turn", params)
  t.same("completed", answer.result["end"].kind, "how the third turn ended")
end)
