-- An edit that is rejected, and one whose prompt is dismissed, leave the text alone.
local t = dofile(vim.env.DRIVER)

t.run(function()
  local answer = "Reject"
  t.person(function(titles, _, kind)
    return kind == "codeaction" and titles[#titles] or answer
  end)
  t.open("code.py")
  local before, tick = t.text(), vim.b[t.buffer].changedtick

  t.ask_about({ 2, 0 }, { 2, 4 })
  t.same("completed", t.ended(1).message, "how the first turn ended")
  answer = nil
  t.ask_about({ 2, 0 }, { 2, 4 })
  t.same("completed", t.ended(2).message, "how the second turn ended")

  t.same(2, #t.prompts, "prompts")
  t.same(before, t.text(), "the text")
  t.same(tick, vim.b[t.buffer].changedtick, "nothing was changed and changed back")
  t.same(false, vim.bo[t.buffer].modified, "modified")
end)
