"""Models: the port, and what stands behind it."""
