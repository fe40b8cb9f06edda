"""Instruction selection that is the same for all machines: what is asked of the shared units."""
