"""Turnbuckle: a coding agent inside a language server."""

__version__ = "0.1.0"
