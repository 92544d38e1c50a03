"""Policies, one a file, each installed once a session."""
