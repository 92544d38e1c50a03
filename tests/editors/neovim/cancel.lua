-- A turn is cancelled by a command, by its progress, and while it asks.
local t = dofile(vim.env.DRIVER)

local function asking(count)
  return t.wait("model " .. count .. " that is asked", function()
    local found = vim.tbl_filter(function(value)
      return value.message == "asking played"
    end, t.progress)
    return found[count]
  end)
end

t.run(function()
  t.answers()
  t.open("code.py")
  local before = t.text()
  vim.cmd("Agent Talk")
  asking(1)
  vim.cmd("AgentCancel")
  t.same("aborted", t.ended(1).message, "how the first turn ended")

  vim.cmd("Agent Talk")
  t.client:notify("window/workDoneProgress/cancel", { token = asking(2).token })
  t.same("aborted", t.ended(2).message, "how the second turn ended")

  vim.cmd("Agent Mend it")
  t.wait("a prompt", function()
    return t.prompts[1]
  end)
  vim.cmd("AgentCancel")
  t.same("aborted", t.ended(3).message, "how the third turn ended")
  t.same(before, t.text(), "the text")

  vim.cmd("Agent Be short")
  t.same("completed", t.ended(4).message, "how the fourth turn ended")
end)
