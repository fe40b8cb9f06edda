"""Passes that make code smaller or faster."""
