"""Draws with arrays of their own wait together: writing what no draw has named ends no wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw import snapshot_cache
from gallette.state_tracker import GL, create_context

SIZE = 64


@pytest.fixture
def gl() -> Iterator[Any]:
    made: Any = create_context("numpipe", profile="compat", version=(2, 1), size=(SIZE, SIZE))
    yield made
    made.release()


def squares(
    gl: Any, count: int, between: Callable[[], None] = lambda: None, own_buffers: bool = False
) -> np.ndarray:
    """Squares in a row, each of four vertices in an array of the client's or in its own buffer."""
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    for k in range(count):
        if own_buffers:
            gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        x, y = k % 16 / 8 - 1, k // 16 / 8 - 1
        gl.color4ub(k + 1, 255 - k, k * 7 % 256, 255)
        corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32) / 8 + np.float32((x, y))
        if own_buffers:
            gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
        gl.vertex_pointer(2, GL.FLOAT, 0, 0 if own_buffers else corners)
        gl.draw_arrays(GL.QUADS, 0, 4)
        between()
    pixels = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
    return np.frombuffer(pixels, np.uint8).reshape(SIZE, SIZE, 4)


def test_draws_with_separate_vertices_are_pending_together(gl: Any, executed: list[int]) -> None:
    together = squares(gl, 100)
    assert executed == [100]
    executed.clear()
    apart = squares(gl, 100, gl.finish)
    assert executed == [1] * 100
    np.testing.assert_array_equal(together, apart)
    first, last = together[2, 2], together[6 * 4 + 2, 3 * 4 + 2]
    assert first.tolist() == [1, 255, 0, 255] and last.tolist() == [100, 156, 181, 255]


def test_memory_that_a_pending_draw_reads_is_not_overwritten(gl: Any) -> None:
    corners = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)
    buffer = gl.gen_buffers(1)[0]
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.DYNAMIC_DRAW)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, 0)
    gl.color4f(0, 1, 0, 1)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.disable_client_state(GL.VERTEX_ARRAY)
    gl.begin(GL.POINTS)  # nothing of the draw before is bound any more
    gl.vertex2f(5, 5)
    gl.end()
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, corners.nbytes, np.zeros_like(corners))
    pixel = gl.read_pixels(SIZE // 2, SIZE // 2, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
    assert tuple(pixel) == (0, 255, 0, 255)


def test_states_beyond_the_cache_size_are_checked_seldom(
    executed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_cache, "_MOST", 8)
    monkeypatch.setattr(snapshot_cache, "_FEW", 8)
    gl: Any = create_context("numpipe", profile="compat", version=(2, 1), size=(SIZE, SIZE))
    tidied: list[int] = []
    tidy = snapshot_cache.SnapshotCache._tidy
    monkeypatch.setattr(
        snapshot_cache.SnapshotCache,
        "_tidy",
        lambda self: (tidied.append(1), tidy(self)),
    )
    squares(gl, 200, own_buffers=True)
    gl.release()
    assert max(executed) == 200
    assert 3 < len(tidied) < 12
