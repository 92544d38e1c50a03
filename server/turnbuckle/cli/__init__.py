"""The terminal client: a client of our own language server, and a reader of stored sessions."""
