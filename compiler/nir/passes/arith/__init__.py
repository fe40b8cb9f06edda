"""Passes that express arithmetic by fewer or other operations."""
