-- What the scenarios share: the server as Neovim starts it, a person who chooses, and waiting.
local M = { prompts = {}, progress = {}, facts = {} }

local LIMIT = 20000 -- milliseconds

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
      return (item.action or item).title
    end, items)
    if opts.kind == "lsp_message" then
      table.insert(M.prompts, { text = opts.prompt, titles = titles })
    end
    local wanted = choose(titles, opts.prompt, opts.kind)
    for index, title in ipairs(titles) do
      if title == wanted then
        return done(items[index], index)
      end
    end
    done(nil, nil)
  end
end

--- Open a file and start the server for it; the last argument makes the client announce events.
function M.open(name, events)
  vim.cmd.edit(name)
  M.buffer = vim.api.nvim_get_current_buf()
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
  local ours = events and { client = { protocolVersions = { 1 }, events = vim.empty_dict() } } or nil
  local id = assert(vim.lsp.start({
    name = "turnbuckle",
    cmd = { vim.env.PYTHON, "-P", "-m", "turnbuckle", "serve" },
    root_dir = vim.fs.dirname(vim.api.nvim_buf_get_name(M.buffer)),
    init_options = ours and { turnbuckle = ours } or nil,
  }))
  M.client = vim.lsp.get_client_by_id(id)
  M.wait("initialize", function()
    return M.client.initialized
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
