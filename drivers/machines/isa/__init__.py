"""Instruction sets: the parts of their tables, and the messages common to all machines."""
