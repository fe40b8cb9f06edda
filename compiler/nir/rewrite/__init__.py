"""The rewriter: one worklist over a function's instructions, and the named rules that run in it."""
