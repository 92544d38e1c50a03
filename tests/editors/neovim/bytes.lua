-- A file with a byte order mark, CRLF and emoji is edited and saved.
local t = dofile(vim.env.DRIVER)

t.run(function()
  t.answers("Allow once", "Show…")
  t.open("code.py")
  vim.cmd("Agent Mend it")
  t.same("completed", t.ended(1).message, "how the turn ended")
  t.wait("the new text", function()
    return t.text():find("new 🦀", 1, true)
  end)
  t.normal("write")
end)
