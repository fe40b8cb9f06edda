"""A slice of `bench/triangles.py`: what triangles cover, as on llvmpipe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import triangles  # type: ignore[import-not-found]

from tests.conftest import native_context


@pytest.mark.native
def test_random_triangles_cover_what_they_cover_on_llvmpipe() -> None:
    native_context().release()
    assert triangles.main(["--triangles", "12000", "--seed", "5"]) == 0


def test_a_missing_triangle_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = triangles.Side.draw

    def without_the_last(self: Any, vertices: Any, view: int) -> Any:
        return draw(self, vertices[:-3] if self is sides[1] else vertices, view)

    sides: list[Any] = []
    made = triangles.Side.__init__

    def noted(self: Any, driver: str) -> None:
        sides.append(self)
        made(self, driver)

    monkeypatch.setattr(triangles.Side, "__init__", noted)
    arguments = ["--triangles", "300", "--against", "numpipe"]
    assert triangles.main(arguments) == 0
    sides.clear()
    monkeypatch.setattr(triangles.Side, "draw", without_the_last)
    assert triangles.main(arguments) == 1
