-- Two places are reviewed where they stand: one is accepted and undone, the other is rejected.
local t = dofile(vim.env.DRIVER)
local before = "def f():\n    return 1/0\n\n\n\n\ndef g():\n    return 2/0"

local function run(lens)
  local command = { command = lens.command.command, arguments = lens.command.arguments }
  return t.ask("workspace/executeCommand", command).result.outcome
end

t.run(function()
  t.person(function()
    error("nobody is prompted")
  end)
  t.open("code.py", true)
  local session = t.ask("turnbuckle/session/open", vim.empty_dict()).result.sessionId
  t.ask("turnbuckle/session/events", { sessionId = session, token = "events" })
  local ended
  local input = { { type = "text", text = "Mend it" } }
  local params = { sessionId = session, key = "one", input = input }
  t.client:request("turnbuckle/turn", params, function(_, result)
    ended = result
  end, t.buffer)
  t.fact("approval/asked")

  local document = { textDocument = vim.lsp.util.make_text_document_params(t.buffer) }
  local lenses = t.ask("textDocument/codeLens", document).result
  local titles = vim.tbl_map(function(lens)
    return lens.range.start.line .. " " .. lens.command.title
  end, lenses)
  t.same({
    "1 +1 −1 Accept", "1 Reject", "1 Diff", "7 +1 −1 Accept", "7 Reject", "7 Diff",
  }, titles, "the lenses")
  local hints = t.wait("the hints", function()
    local found = vim.diagnostic.get(t.buffer)
    return #found == 2 and found
  end)
  t.same({ 1, 4, 14 }, { hints[1].lnum, hints[1].col, hints[1].end_col }, "what is marked")
  t.same("+1 −1: return 1", hints[1].message, "the hint")
  document.position = { line = 1, character = 6 }
  local hover = t.ask("textDocument/hover", document).result.contents.value
  assert(hover:find("-    return 1/0\n+    return 1\n", 1, true), hover)

  t.same("accepted", run(lenses[1]), "what came of it")
  t.wait("the first place", function()
    return t.text() == (before:gsub("1/0", "1"))
  end)
  t.fact("edit/applied")
  vim.api.nvim_buf_call(t.buffer, function()
    vim.cmd("silent undo")
  end)
  t.same(before, t.text(), "after undo")
  t.same("person", t.fact("edit/undone").by, "who undid it")

  t.same("rejected", run(lenses[5]), "what came of the other")
  t.wait("the end of the turn", function()
    return ended
  end)
  t.wait("no hints", function()
    return #vim.diagnostic.get(t.buffer) == 0
  end)
  t.same(before, t.text(), "the text in the end")
end)
