"""Passes that turn bound state into code: what shader variants are made of."""
