"""Passes that do away with functions and returns."""
