"""The instruction set: registers, opcodes in categories, 64-bit encoding, assembly text."""
