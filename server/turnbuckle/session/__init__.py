"""One session: its facts, its log on disk, and what is folded from them."""
