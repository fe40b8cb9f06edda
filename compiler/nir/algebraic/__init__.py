"""The algebraic engine: rewrite rules as tuples in a table, compiled into per-opcode matchers.

A room of its own inside NIR, with its own maintainer; `compiler.nir.parser` and `serialize` too.
"""
