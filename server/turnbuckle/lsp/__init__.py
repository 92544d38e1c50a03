"""The editor's side: the only layer that knows LSP."""
