"""Passes that turn bound state into code, for shader variants."""
