"""Mutation testing: does the suite notice a small fault?

`faults` finds the places of a source file where a realistic slip fits (`<` for `<=`, a forgotten
call, an ignored element of a tuple) and writes the file with one of them. `coverage_map` runs the
suite once and remembers which test runs which line, in every process a test starts. `trial` plants
one fault in a copy of the tree and runs the tests that meet it, then what else `make test` does.
`report` counts, per folder, and lists the survivors.

    python bench/mutate.py --help
"""
