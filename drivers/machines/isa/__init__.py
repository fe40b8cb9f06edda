"""Instruction sets: what their tables are made of, and the messages all machines know."""
