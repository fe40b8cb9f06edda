"""The instruction set: types, opcodes, operands, messages, 128-bit encoding, assembly text."""
