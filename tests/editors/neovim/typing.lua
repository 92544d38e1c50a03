-- The person types in the moment in which the edit arrives: nothing that was typed is lost.
local t = dofile(vim.env.DRIVER)

local told = 0
vim.api.nvim_create_autocmd("LspNotify", {
  callback = function(event)
    told = told + (event.data.method == "textDocument/didChange" and 1 or 0)
  end,
})

local function type_line(line)
  vim.api.nvim_buf_set_lines(t.buffer, 0, 0, false, { line })
end

t.run(function()
  local typed = false
  t.person(function(titles, _, kind)
    if kind == "codeaction" then
      return titles[#titles]
    end
    if vim.tbl_contains(titles, "Allow once") then
      -- The first change is told at once, the second only after 150 ms; Neovim refuses edits of
      -- older texts all the same, and says that it applied them.
      type_line("# typed")
      t.wait("a change that is told", function()
        return told > 0
      end)
      type_line("# typed again")
      typed = true
      return "Allow once"
    end
    return "Show…"
  end)
  t.open("code.py")
  t.ask_about({ 2, 0 }, { 2, 4 })
  t.same("completed", t.ended(1).message, "how the turn ended")
  assert(typed, "the person typed")
  vim.fn.writefile(vim.split(t.text(), "\n"), "seen.txt")
end)
