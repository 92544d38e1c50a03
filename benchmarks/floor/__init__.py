"""Two programs that forward a model's stream and do nothing else: what any server must pay."""
