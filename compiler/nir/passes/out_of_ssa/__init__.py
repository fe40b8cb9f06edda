"""Passes on the way out of SSA form."""
