"""Edges from tables: what a call answers at n - 1, n and n + 1, for every argument that has an n.

`values` says which values stand at an edge for which parameter of the function table; the valid
calls they go into are those of `negative_calls.txt`. `digest` is all a context knows, in one
comparable value: a call that failed must have left it alone. `walk` makes the calls.
"""
