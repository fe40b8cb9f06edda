"""Passes: one small named transformation per file, registered by decorator."""
