-- The person types in the moment in which an edit is allowed: nothing of it is lost.
local t = dofile(vim.env.DRIVER)

local told = 0
vim.api.nvim_create_autocmd("LspNotify", {
  callback = function(event)
    told = told + (event.data.method == "textDocument/didChange" and 1 or 0)
  end,
})

t.run(function()
  t.person(function(titles)
    if not vim.tbl_contains(titles, "Allow once") then
      return "Show…"
    end
    -- The first change is told at once, the second only after 150 ms; Neovim drops an edit of the
    -- text in between, and says all the same that it made it.
    t.type(1, 0, "# typed\n")
    t.wait("a change that is told", function()
      return told > 0
    end)
    t.type(1, 0, "# typed again\n")
    return "Allow once"
  end)
  t.open("code.py")
  local before = t.text()
  vim.cmd("Agent Mend it")

  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same("# typed again\n# typed\n" .. before:gsub("1/0", "1"), t.text(), "the text")
end)
