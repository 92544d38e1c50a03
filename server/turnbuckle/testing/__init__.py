"""Fakes that ship: for the tests of this project and for people who write plugins."""
