"""Edits of open documents: sent through the editor, followed, and looked for in its text."""
