"""Whole GLSL programs for fuzzing: a syntax, a generator, an evaluator, variants, a shrinker.

None of it knows the compiler. `generate` makes a program from a seed, `evaluate` says what it must
compute, `variants` rewrites it into programs that must compute the same, `backends` runs its text
on gallette and on the machine's OpenGL, and `shrink` makes a program that shows a defect small.
"""
