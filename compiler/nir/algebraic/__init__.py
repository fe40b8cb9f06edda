"""Algebraic rewriting: rules as tuples in a table, compiled to matchers per opcode."""
