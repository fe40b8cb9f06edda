"""Passes that say arithmetic with fewer or other operations."""
