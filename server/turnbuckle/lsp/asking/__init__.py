"""Asking without a panel: what can be asked about a place, and the conversation as a document."""
