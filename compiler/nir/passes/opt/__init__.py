"""Passes that make code smaller or faster without changing what it means."""
