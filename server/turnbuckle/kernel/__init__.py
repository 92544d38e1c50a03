"""The ground: scopes that undo, and waterfalls that layers stand around."""
