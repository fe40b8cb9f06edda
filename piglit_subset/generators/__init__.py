"""Families of tests, written by small programs.

Each module here but `common` has `tests()`, which yields tests: a place in the bundled suite, the
one purpose, and the body. They may import what `generated.py` lists as `SOURCES`, and nothing else
of gallette.
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from gallette.piglit_subset.generators.common import Generated

__all__ = ["Generated", "all_tests"]


def all_tests() -> Iterator[Generated]:
    """Every generated test, in the order of the families."""
    for family in sorted({module.name for module in iter_modules(__path__)} - {"common"}):
        for place, purpose, body in import_module(f"{__name__}.{family}").tests():
            yield Generated(f"{place}.shader_test", family, purpose, body)
