"""Random OpenGL programs, run on two implementations (`python -m fuzz gl`).

A program is a list of Python lines. `generate` writes them by the rules of `plain.txt` and the
other grammars, with what `writer` knows of the program so far; `world` holds what they may call,
`run` executes them on one context or two, `eyes` collects what can be seen, `compare` says what
differs and which differences the specification allows.
"""
