"""Families of tests, written by small programs.

Each module here has `tests()`, which yields `Generated` tests: a place under
`piglit_subset/spec`, the one purpose, and the body. `python -m gallette.piglit_subset.generators`
writes them all; a test of the project generates them again and wants no difference.
"""

from gallette.piglit_subset.generators.common import Generated, all_tests

__all__ = ["Generated", "all_tests"]
