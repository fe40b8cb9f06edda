"""Passes on variables and derefs."""
