-- A prompt that is dismissed is a no.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.person(function()
    return nil
  end)
  t.open("code.py")
  local before = t.text()
  vim.cmd("Agent Mend it")
  t.same("completed", t.ended(1).message, "how the turn ended")
  t.same(1, #t.prompts, "prompts")
  t.same(before, t.text(), "the text")
end)
