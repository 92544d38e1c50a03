"""Tools: what one is, which there are, and how a step's calls are run."""
