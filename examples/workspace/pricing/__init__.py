"""What a cart costs."""
