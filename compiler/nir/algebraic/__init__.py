"""The algebraic engine: rewrite rules as tuples in a table, compiled into per-opcode matchers."""
