-- What the scenarios share: the server as Neovim starts it, a person who chooses, and waiting.
local M = { prompts = {}, progress = {}, facts = {} }

local LIMIT = 20000 -- milliseconds

--- The choice of a person who leaves a prompt on the screen.
M.LEFT = {}

--- Wait until something holds, and give it; an error names what did not come.
function M.wait(what, look)
  local found
  local came = vim.wait(LIMIT, function()
    found = look()
    return found
  end, 10)
  assert(came, "not in time: " .. what)
  return found
end

function M.same(expected, actual, what)
  local difference = ("%s: expected %s, got %s"):format(what, vim.inspect(expected), vim.inspect(actual))
  assert(vim.deep_equal(expected, actual), difference)
end

--- Let a person choose: by prompts of the server, and by the menu of code actions.
-- `choose` is given the titles and the text above them, and gives a title, or nil to dismiss.
function M.person(choose)
  vim.ui.select = function(items, opts, done)
    local titles = vim.tbl_map(function(item)
      return item.lens and item.lens.command.title or (item.action or item).title
    end, items)
    if opts.kind == "lsp_message" then
      table.insert(M.prompts, { text = opts.prompt, titles = titles, answer = done })
    end
    local wanted
    if opts.kind ~= "lsp_message" and M.picking then
      wanted = vim.iter(titles):find(function(title)
        return vim.startswith(title, M.picking)
      end)
      assert(wanted, M.picking .. " is not among " .. vim.inspect(titles))
      M.picking = nil
    else
      wanted = choose(titles, opts.prompt, opts.kind)
    end
    if wanted == M.LEFT then
      return
    end
    for index, title in ipairs(titles) do
      if title == wanted then
        return done(items[index], index)
      end
    end
    done(nil, nil)
  end
end

--- Let the person give the first of these titles that a prompt offers, or leave it.
function M.answers(...)
  local wanted = { ... }
  M.person(function(titles)
    for _, title in ipairs(wanted) do
      if vim.tbl_contains(titles, title) then
        return title
      end
    end
    return M.LEFT
  end)
end

--- Open a file, in which the server is started as in the configuration to copy.
-- With `events` the client announces that it shows events and answers approvals itself.
function M.open(name, events)
  dofile(vim.env.EXAMPLE)
  local ours = events and { client = { protocolVersions = { 1 }, events = vim.empty_dict() } } or nil
  vim.lsp.config("turnbuckle", { init_options = ours and { turnbuckle = ours } or nil })
  vim.api.nvim_create_autocmd("LspProgress", {
    callback = function(event)
      local params = event.data.params
      local value = params.value
      if type(value) == "table" and value.kind then
        table.insert(M.progress, vim.tbl_extend("force", { token = params.token }, value))
      else
        table.insert(M.facts, value)
      end
    end,
  })
  vim.cmd.edit(name)
  M.buffer = vim.api.nvim_get_current_buf()
  vim.cmd("filetype detect")
  M.client = M.wait("a server", function()
    local client = vim.lsp.get_clients({ name = "turnbuckle", bufnr = M.buffer })[1]
    return client and client.initialized and client
  end)
end

--- Run a command of the server, as the commands and keys of the configuration do.
function M.command(command, argument)
  local answer = M.ask("workspace/executeCommand", {
    command = command,
    arguments = argument and { argument } or nil,
  })
  assert(not answer.failed, vim.inspect(answer.failed))
  return answer.result
end

--- Type a text in a line, counted from 1, after so many bytes.
function M.type(line, column, text)
  vim.cmd("let &undolevels = &undolevels") -- an undo step of its own
  local lines = vim.split(text, "\n")
  vim.api.nvim_buf_set_text(M.buffer, line - 1, column, line - 1, column, lines)
  vim.cmd("let &undolevels = &undolevels")
end

function M.normal(command)
  vim.api.nvim_buf_call(M.buffer, function()
    vim.cmd("silent " .. command)
  end)
end

--- Pick the code action whose title begins so, in the menu of a line.
function M.pick(line, title)
  local column = #vim.fn.getline(line):match("^%s*")
  vim.api.nvim_win_set_cursor(0, { line, column })
  M.picking = title
  vim.lsp.buf.code_action()
  M.wait("the menu with " .. title, function()
    return M.picking == nil
  end)
end

--- Run the code lens whose title begins so, in a line.
function M.lens(line, title)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  M.wait("a lens in line " .. line, function()
    for _, lens in ipairs(vim.lsp.codelens.get(M.buffer)) do
      if lens.range.start.line == line - 1 and lens.command then
        return true
      end
    end
    vim.api.nvim_exec_autocmds("CursorHold", { buffer = M.buffer })
  end)
  M.picking = title
  vim.lsp.codelens.run()
  M.wait("the lens " .. title, function()
    return M.picking == nil
  end)
end

--- What is marked in the buffer: line and message of each.
function M.hints()
  local found = vim.tbl_map(function(hint)
    return { hint.lnum + 1, hint.message }
  end, vim.diagnostic.get(M.buffer))
  table.sort(found, function(one, other)
    return one[1] < other[1]
  end)
  return found
end

function M.disk(name)
  return vim.fn.readblob(name)
end

--- The data of the facts of a type, in the sessions' logs as they stand on disk.
function M.stored(kind)
  local found = {}
  for _, file in ipairs(vim.fn.globpath(vim.env.TURNBUCKLE_STATE_DIR, "sessions/**/*.jsonl", false, true)) do
    for _, line in ipairs(vim.fn.readfile(file)) do
      -- What is written just now may be no whole line yet.
      local whole, fact = pcall(vim.json.decode, line)
      if whole and fact.type == kind then
        table.insert(found, fact.data)
      end
    end
  end
  return found
end

--- The data of the fact of a type with this number, or the first, once it is in the log.
function M.logged(kind, count)
  return M.wait(kind .. " " .. (count or 1), function()
    return M.stored(kind)[count or 1]
  end)
end

--- Send a request of ours and wait for its answer.
function M.ask(method, params)
  local answer
  assert(M.client:request(method, params, function(failed, result)
    answer = { failed = failed, result = result }
  end, M.buffer))
  return M.wait("the answer to " .. method, function()
    return answer
  end)
end

--- Pick "Ask the agent" in the menu of code actions, for a part of the text.
function M.ask_about(first, last)
  vim.lsp.buf.code_action({ range = { start = first, ["end"] = last } })
end

--- The value that ended the progress with this number.
function M.ended(count)
  return M.wait("the end of progress " .. count, function()
    local ends = vim.tbl_filter(function(value)
      return value.kind == "end"
    end, M.progress)
    return ends[count]
  end)
end

--- The first fact of a type, once it came.
function M.fact(kind)
  return M.wait("a " .. kind, function()
    for _, fact in ipairs(M.facts) do
      if fact.type == kind then
        return fact.data
      end
    end
  end)
end

function M.text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer or M.buffer, 0, -1, false), "\n")
end

--- The text of the buffer whose name has this ending, once there is one with this in it.
function M.shown(ending, wanted)
  return M.wait("a shown " .. ending, function()
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      local name = vim.api.nvim_buf_get_name(buffer)
      if vim.endswith(name, ending) and M.text(buffer):find(wanted, 1, true) then
        return M.text(buffer)
      end
    end
  end)
end

--- Run a scenario and leave, with exit code 1 and the reason on standard error if it fails.
function M.run(scenario)
  local ok, reason = xpcall(scenario, debug.traceback)
  if not ok then
    io.stderr:write(reason, "\n", "prompts: ", vim.inspect(M.prompts), "\n")
    vim.cmd("cquit 1")
  end
  vim.cmd("qall!")
end

return M
