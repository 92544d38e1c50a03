"""Proposed changes where the code stands: followed, shown, decided and taken back."""
