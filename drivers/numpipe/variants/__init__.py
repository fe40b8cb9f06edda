"""Shader variants: which code runs for which bound state, and why it had to be built.

`keys` holds the frozen keys, `shader` the object behind a shader state handle.
"""
