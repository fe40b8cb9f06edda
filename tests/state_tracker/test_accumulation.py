"""The accumulation buffer, operation by operation, against the same arithmetic in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import errors, pixels

SIZE = 8
Box = tuple[int, int, int, int]


class Model:
    """What the specification says, in plain arrays `[y, x, channel]`."""

    def __init__(self) -> None:
        self.color = np.zeros((SIZE, SIZE, 4))
        self.sum = np.zeros((SIZE, SIZE, 4))

    def accum(self, op: str, value: float, box: Box, mask: tuple[bool, ...]) -> None:
        x, y, width, height = box
        place = slice(y, y + height), slice(x, x + width)
        color, total = self.color[place], self.sum[place]
        if op == "ACCUM":
            total += color * value
        elif op == "LOAD":
            total[:] = color * value
        elif op == "ADD":
            total += value
        elif op == "MULT":
            total *= value
        else:
            kept = np.rint(np.clip(total * value, 0, 1) * 255) / 255
            color[..., mask] = kept[..., mask]


def paint(gl: Any, model: Model, random: np.random.Generator) -> None:
    """Another colour for every pixel."""
    texels = random.integers(0, 256, (SIZE, SIZE, 4)).astype(np.uint8)
    gl.disable(GL.SCISSOR_TEST)
    gl.color_mask(1, 1, 1, 1)
    gl.window_pos2i(0, 0)
    gl.draw_pixels(SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    model.color = texels / 255


@pytest.mark.parametrize("seed", range(6))
def test_random_operations(seed: int) -> None:
    made: Any = {"size": (SIZE, SIZE), "samples": 4 * (seed % 2)}
    gl: Any = create_context("numpipe", profile="compat", version=(3, 0), **made)
    random = np.random.default_rng(seed)
    model = Model()
    paint(gl, model, random)
    returned = 0
    for _ in range(40):
        op = str(random.choice(["ACCUM", "LOAD", "ADD", "MULT", "RETURN", "RETURN"]))
        value = float(random.choice([-0.5, 0.25, 0.5, 1.0, 2.0]))
        mask = tuple(bool(bit) for bit in random.integers(0, 4, 4))
        box = (0, 0, SIZE, SIZE)
        gl.disable(GL.SCISSOR_TEST)
        if random.random() < 0.5:
            x, y = (int(v) for v in random.integers(0, SIZE - 1, 2))
            box = (x, y, int(random.integers(1, SIZE - x + 1)), int(random.integers(1, SIZE - y)))
            gl.enable(GL.SCISSOR_TEST)
        gl.scissor(*box)
        gl.color_mask(*mask)
        gl.accum(getattr(GL, op), value)
        model.accum(op, value, box, mask)
        returned += op == "RETURN"
        off = np.abs(pixels(gl, SIZE, SIZE) - model.color * 255)
        assert off.max() < 1.01, (op, value, box, mask)
        if random.random() < 0.2:
            paint(gl, model, random)
    assert returned > 5 and errors(gl) == []
    gl.release()
