"""Random OpenGL programs that mean no good, and what must not come of them.

A program is a list of lines of Python, made of a seed by `generate` and the rules of
`programs.txt`: calls of all kinds, shaders of all stages (`stages`, `shaders.txt`), with hostile
numbers. `run` executes it and says what was wrong: an exception that is no GL error, memory outside
of resources read or written (`fuzz.guard`), objects that outlive their context.
"""
