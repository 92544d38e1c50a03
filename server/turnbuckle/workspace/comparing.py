"""Comparison of sequences: difflib, compiled where it has a build, which gives the same."""

try:
    from cydifflib import SequenceMatcher, get_close_matches

    COMPILED = True
except ImportError:
    from difflib import SequenceMatcher, get_close_matches

    COMPILED = False

__all__ = ["COMPILED", "SequenceMatcher", "get_close_matches"]
