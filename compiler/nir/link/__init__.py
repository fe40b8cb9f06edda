"""Optimisation across stages."""
