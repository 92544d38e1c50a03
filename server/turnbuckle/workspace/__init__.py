"""The person's files: exact text, places, changes, processes."""
