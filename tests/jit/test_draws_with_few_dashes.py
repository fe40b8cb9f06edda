"""Stippled lines become pending, triangles follow plans: when they alternate or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.drivers.jit import plan_inputs
from gallette.state_tracker import GL, create_context

SIZE = 32


@pytest.fixture
def gl() -> Iterator[Any]:
    made: Any = create_context("jit", profile="compat", version=(2, 1), size=(SIZE, SIZE))
    made.enable_client_state(GL.VERTEX_ARRAY)
    made.enable_client_state(GL.COLOR_ARRAY)
    made.enable(GL.LINE_STIPPLE)
    yield made
    made.release()


def draw(gl: Any, mode: int, number: int) -> None:
    """A draw from arrays of two floats and four bytes a vertex."""
    at = number / 8 - 1
    corners = np.array([(at, -1), (at + 0.1, 1), (at + 0.2, -0.5)], np.float32)
    colors = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20 + number
    gl.vertex_pointer(2, GL.FLOAT, 0, corners)
    gl.color_pointer(4, GL.UNSIGNED_BYTE, 0, colors)
    gl.draw_arrays(mode, 0, 3)


@pytest.mark.parametrize(
    ("modes", "batches"),
    [
        ([GL.LINE_STRIP] + [GL.TRIANGLES] * 9, [2]),
        ([GL.LINE_STRIP, GL.TRIANGLES] * 5, [10]),
        ([GL.TRIANGLES] * 4 + [GL.LINE_STRIP] * 4 + [GL.TRIANGLES] * 3, [7]),
    ],
)
def test_no_more_triangles_wait_than_lines(
    gl: Any, executed: list[int], modes: list[int], batches: list[int]
) -> None:
    for number, mode in enumerate(modes):
        draw(gl, mode, number)
    together = bytes(gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE))
    assert [count for count in executed if count > 1] == batches
    gl.clear(GL.COLOR_BUFFER_BIT)
    for number, mode in enumerate(modes):
        draw(gl, mode, number)
        gl.finish()
    apart = bytes(gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE))
    assert together == apart
    assert len(set(together)) > 20


def test_components_that_vertices_lack_are_not_converted(
    gl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted: list[str] = []
    own = plan_inputs._Converted._convert

    def counted(self: Any, *given: Any) -> None:
        converted.append(self.element.src_format.name)
        own(self, *given)

    monkeypatch.setattr(plan_inputs._Converted, "_convert", counted)
    for number in range(6):
        draw(gl, GL.TRIANGLES, number)
    gl.finish()
    assert set(converted) == {"R8G8B8A8_UNORM"}
