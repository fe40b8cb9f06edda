"""Families of tests, written by small programs.

Each module here has `tests()`, which yields tests: a place in the bundled suite, the one purpose,
and the body. They may import what `generated.py` lists as `SOURCES`, and nothing else of gallette.
"""

from gallette.piglit_subset.generators.common import Generated, all_tests

__all__ = ["Generated", "all_tests"]
