"""Shader execution: optimised NIR becomes generated Python code over NumPy arrays.

Start with `api` (what the draw room sees). `generate` turns a NIR shader into source text, one
statement per scalar operation for all lanes of a chunk at once; `program` compiles and runs it.
"""
