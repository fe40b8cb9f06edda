"""Bitmaps that are drawn together look as if each had been drawn at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels

OPTIONS: dict[str, Any] = {"profile": "compat", "version": (2, 1), "size": (64, 64)}


def letters(gl: GLInterface, then: Callable[[], object]) -> Any:
    """Random letters between changes of state; `then` follows each."""
    rng = np.random.default_rng(7)
    gl.clear(GL.COLOR_BUFFER_BIT)
    lists = gl.gen_lists(8)
    for k in range(8):
        gl.new_list(lists + k, GL.COMPILE)
        gl.bitmap(8, 5 + k, 1.0, 2.0, 7.0, k / 4, rng.bytes(96))
        gl.end_list()
    gl.list_base(lists)
    changes: list[Callable[[], object]] = [
        lambda: gl.color3f(*rng.random(3).tolist()),
        lambda: gl.raster_pos3f(*rng.uniform(-1, 1, 3).tolist()),
        lambda: gl.window_pos2i(*rng.integers(0, 64, 2).tolist()),
        lambda: gl.rectf(*rng.uniform(-1, 1, 4).tolist()),
        lambda: gl.scissor(*rng.integers(0, 40, 4).tolist()),
        lambda: gl.enable(GL.SCISSOR_TEST),
        lambda: gl.disable(GL.SCISSOR_TEST),
        lambda: gl.pixel_storei(GL.UNPACK_ALIGNMENT, int(rng.choice([1, 2, 4, 8]))),
        lambda: gl.pixel_storei(GL.UNPACK_LSB_FIRST, int(rng.integers(2))),
        lambda: gl.logic_op(GL.XOR),
        lambda: gl.bitmap(11, 6, 0.0, 0.0, 3.0, 2.0, rng.bytes(48)),
        lambda: gl.bitmap(70, 2, 0.0, 0.0, 3.0, 2.0, rng.bytes(48)),
        lambda: gl.call_lists(4, GL.UNSIGNED_BYTE, rng.integers(0, 8, 4, np.uint8).tobytes()),
        lambda: gl.begin(GL.TRIANGLES),
    ]
    for _ in range(300):
        change = int(rng.integers(len(changes)))
        changes[change]()
        if change == len(changes) - 1:
            for _ in range(3):
                gl.vertex2f(*rng.uniform(-1, 1, 2).tolist())
            gl.end()
        then()
    assert errors(gl) == []
    return pixels(gl)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_pending_bitmaps_look_like_single_ones(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    together, apart = (create_context(driver, **OPTIONS) for _ in range(2))
    for gl in (together, apart):
        gl.enable(GL.BLEND)
        gl.blend_func(GL.ONE, GL.SRC_COLOR)
    seen = letters(together, lambda: None)
    np.testing.assert_array_equal(seen, letters(apart, apart.flush))
    assert seen[..., :3].any(axis=-1).mean() > 0.5


@pytest.mark.native
def test_pending_bitmaps_look_like_mesas() -> None:
    """Without blending: Mesa draws a pixel once that several pending bitmaps cover."""
    ours, theirs = create_context("numpipe", **OPTIONS), native_context(**OPTIONS)
    seen = letters(ours, lambda: None).astype(int)
    assert np.abs(seen - letters(theirs, lambda: None)).max() <= 2


def test_letters_are_drawn_together(executed: list[int]) -> None:
    gl = create_context("numpipe", **OPTIONS)
    for k in range(20):
        gl.raster_pos2f(-1 + k / 10, 0.0)
        gl.bitmap(8, 8, 0.0, 0.0, 9.0, 0.0, b"\xff\x81" * 16)
    assert executed == []
    gl.finish()
    assert executed == [1]
