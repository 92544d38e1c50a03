-- Turnbuckle in Neovim 0.11: put this into your init.lua, or into a file that it loads.
vim.lsp.config("turnbuckle", {
  cmd = { "turnbuckle", "serve" },
  root_dir = function(buffer, start)
    if vim.bo[buffer].buftype == "" and vim.api.nvim_buf_get_name(buffer) ~= "" then
      start(vim.fs.root(buffer, { ".git" }) or vim.fn.getcwd())
    end
  end,
})
vim.lsp.enable("turnbuckle")

local function turnbuckle()
  return vim.lsp.get_clients({ name = "turnbuckle" })[1]
end

--- Run a command of the server; it answers at once, and what it has to say is shown as a message.
local function run(command, argument)
  local client = turnbuckle()
  if not client then
    return vim.notify("Turnbuckle does not run here", vim.log.levels.WARN)
  end
  client:exec_cmd({ title = command, command = command, arguments = argument and { argument } })
end

--- The buffer, or the lines of a range, as what is pointed at.
local function pointed(lines)
  local name = vim.api.nvim_buf_get_name(0)
  if name == "" or vim.bo.buftype ~= "" then
    return {}
  end
  local at = { uri = vim.uri_from_bufnr(0) }
  if lines then
    at.range = {
      start = { line = lines[1] - 1, character = 0 },
      ["end"] = { line = lines[2], character = 0 },
    }
  end
  return at
end

--- :Agent do this — with a range, the lines go along; without words, it is asked for them.
vim.api.nvim_create_user_command("Agent", function(call)
  local about = pointed(call.range > 0 and { call.line1, call.line2 } or nil)
  local function ask(prompt)
    if prompt and prompt ~= "" then
      about.prompt = prompt
      run("turnbuckle.ask", about)
    end
  end
  if call.args ~= "" then
    ask(call.args)
  else
    vim.ui.input({ prompt = "Ask the agent: " }, ask)
  end
end, { nargs = "*", range = true, desc = "Ask the agent" })

for name, command in pairs({
  AgentCancel = "turnbuckle.cancel",
  AgentApprove = "turnbuckle.approve", -- shows the question that waits
  AgentReject = "turnbuckle.reject",
  AgentDiff = "turnbuckle.showDiff",
  AgentAcceptAll = "turnbuckle.acceptAll",
  AgentUndoTurn = "turnbuckle.undoTurn",
  AgentNew = "turnbuckle.newSession",
  AgentResume = "turnbuckle.resume",
  AgentTranscript = "turnbuckle.showTranscript",
}) do
  vim.api.nvim_create_user_command(name, function()
    run(command)
  end, { desc = command })
end

local group = vim.api.nvim_create_augroup("turnbuckle", {})

vim.api.nvim_create_autocmd("LspAttach", {
  group = group,
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if not client or client.name ~= "turnbuckle" then
      return
    end
    -- Neovim does not ask for lenses by itself, and no server can tell it to.
    vim.api.nvim_clear_autocmds({ group = group, buffer = event.buf })
    vim.api.nvim_create_autocmd({ "BufEnter", "CursorHold", "InsertLeave", "TextChanged" }, {
      group = group,
      buffer = event.buf,
      callback = function()
        vim.lsp.codelens.refresh({ bufnr = event.buf })
      end,
    })
    vim.lsp.codelens.refresh({ bufnr = event.buf })
    local function map(mode, keys, act, desc)
      vim.keymap.set(mode, keys, act, { buffer = event.buf, desc = desc })
    end
    -- gra is Neovim's own key for code actions: asking, accepting, rejecting and undoing are there.
    map("n", "grl", vim.lsp.codelens.run, "Pick a code lens of this line")
    map("n", "<leader>aa", "<Cmd>Agent<CR>", "Ask the agent about this file")
    map("x", "<leader>aa", ":Agent<CR>", "Ask the agent about these lines")
    map("n", "<leader>ac", "<Cmd>AgentCancel<CR>", "Cancel the agent's turn")
    map("n", "<leader>ad", "<Cmd>AgentDiff<CR>", "Show what the agent proposes")
    map("n", "<leader>at", "<Cmd>AgentTranscript<CR>", "Show the conversation")
  end,
})

-- What the agent does now, on the command line; `:lua =vim.lsp.status()` says it, too.
vim.api.nvim_create_autocmd("LspProgress", {
  group = group,
  callback = function(event)
    local client, value = vim.lsp.get_client_by_id(event.data.client_id), event.data.params.value
    if client and client.name == "turnbuckle" and type(value) == "table" and value.message then
      vim.api.nvim_echo({ { "agent: " .. value.message } }, false, {})
    end
  end,
})
