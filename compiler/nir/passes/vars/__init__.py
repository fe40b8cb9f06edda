"""Passes about variables and derefs."""
