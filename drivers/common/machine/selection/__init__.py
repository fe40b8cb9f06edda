"""Instruction selection that all machines share: messages to the shared units."""
