"""Passes that remove functions and returns."""
