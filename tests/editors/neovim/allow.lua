-- An edit of two places is shown, allowed and made: one undo step, and saving is the person's.
local t = dofile(vim.env.DRIVER)
local before = "# typed, not saved\ndef f():\n    return 1/0\n\n\n\n\ndef g():\n    return 2/0"
local after = "# typed, not saved\ndef f():\n    return 1\n\n\n\n\ndef g():\n    return 2"

local function saved()
  return table.concat(vim.fn.readfile("code.py"), "\n")
end

t.run(function()
  t.person(function(titles)
    for _, wanted in ipairs({ "Ask the agent", "Allow once", "Show…" }) do
      if vim.tbl_contains(titles, wanted) then
        return wanted
      end
    end
  end)
  t.open("code.py")
  local on_disk = saved()
  vim.api.nvim_buf_set_lines(t.buffer, 0, 0, false, { "# typed, not saved" })
  vim.cmd("let &undolevels = &undolevels") -- what was typed is an undo step of its own
  t.same(before, t.text(), "what was typed")
  t.ask_about({ 2, 0 }, { 9, 0 })

  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same(after, t.text(), "the text")
  t.same(2, #t.prompts, "prompts")
  t.same({ "Show…", "Reject" }, t.prompts[1].titles, "the first prompt")
  t.same({ "Show…", "Allow once", "Allow for this session", "Reject" }, t.prompts[2].titles, "the second prompt")
  t.shown(".diff", "-    return 1/0\n+    return 1\n")

  t.same(on_disk, saved(), "the file before it is saved")
  vim.api.nvim_buf_call(t.buffer, function()
    vim.cmd("silent undo")
  end)
  t.same(before, t.text(), "one undo takes all of the edit back, and nothing else")
  vim.api.nvim_buf_call(t.buffer, function()
    vim.cmd("silent redo")
    vim.cmd("silent write")
  end)
  t.same(after, saved(), "the file once it is saved")
end)
