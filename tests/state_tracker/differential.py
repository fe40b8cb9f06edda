"""The same calls on the native GL and on a driver of ours: what both answer and draw is the same.

`answers` runs a function on a context of each. A table of scenes is a `Scenes`: functions that draw
and ask, each with the rows of arguments it runs with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

from gallette.state_tracker import create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors

T = TypeVar("T")
VERSIONS = {"core": (4, 5), "compat": (4, 5), "es": (3, 2)}


def answers(
    ask: Callable[[Any], T],
    profile: str = "core",
    version: tuple[int, int] | None = None,
    size: tuple[int, int] = (16, 16),
    driver: str = "numpipe",
) -> tuple[T, T]:
    """What a function finds on the native GL, and on a driver of ours."""
    found = []
    for name in ("native", driver):
        options: Any = {"profile": profile, "version": version or VERSIONS[profile], "size": size}
        gl: Any = native_context(**options) if name == "native" else create_context(name, **options)
        try:
            found.append(ask(gl))
        finally:
            gl.release()
    return found[0], found[1]


def same(theirs: Any, ours: Any, place: str = "") -> None:
    """Nothing differs: floats by no more than they may."""
    if isinstance(theirs, np.ndarray) and theirs.dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, atol=1e-5, err_msg=place)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=place)


class Scenes(list[Any]):
    """Scenes for `pytest.mark.parametrize(("profile", "drawn"), ...)`."""

    def __call__(self, profile: str, *arguments: Any) -> Callable[[Any], Any]:
        """Decorator: a scene for contexts of the profile, with arguments."""

        def register(function: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
            name = "-".join(map(str, (function.__name__, *arguments)))
            self.append(pytest.param(profile, lambda gl: function(gl, *arguments), id=name))
            return function

        return register

    @staticmethod
    def check(drawn: Callable[[Any], list[Any]], **options: Any) -> None:
        """What a scene answers is the native GL's, and so are the errors after it."""

        def ask(gl: Any) -> list[Any]:
            assert errors(gl) == []
            return [*drawn(gl), errors(gl)]

        theirs, ours = answers(ask, **options)
        assert len(theirs) == len(ours) > 1
        for number, pair in enumerate(zip(theirs, ours, strict=True)):
            same(*pair, str(number))
