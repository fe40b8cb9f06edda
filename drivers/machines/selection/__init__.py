"""Instruction selection common to all machines: the messages to the shared units."""
