"""One context and several windows: each draw is in the window that was bound last."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.targets.window import Drawable

from .helpers import COLOR_FS, errors, program, quad

CORNER = """#version 330
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }"""


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("order", [(0, 1), (0, 1, 0), (1, 0, 2, 1), (2, 2, 0)])
def test_draws_without_any_other_change(order: tuple[int, ...], driver: str) -> None:
    gl: Any = create_context(driver, profile="core", version=(3, 3))
    windows = [Drawable(gl.screen, (8, 8)) for _ in range(3)]
    gl.bind_drawables(windows[0], windows[0])
    name = program(gl, CORNER, COLOR_FS)
    quad(gl, name)
    tint = gl.get_uniform_location(name, "color")
    for window in windows:
        gl.bind_drawables(window, window)
        gl.clear(GL.COLOR_BUFFER_BIT)
    wanted = [0, 0, 0]
    for number, which in enumerate(order):
        gl.bind_drawables(windows[which], windows[which])
        gl.uniform4f(tint, (number + 1) / 10, 0.0, 0.0, 1.0)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        wanted[which] = number + 1
    found = []
    for window in windows:
        gl.bind_drawables(window, window)
        raw = np.frombuffer(bytes(gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE)), np.uint8)
        found.append(round(int(raw[0]) / 25.5))
        assert len(set(raw[::4].tolist())) == 1
    assert found == wanted
    gl.bind_drawables(windows[0], windows[2])  # read from another than is drawn to
    raw = np.frombuffer(bytes(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)), np.uint8)
    assert round(int(raw[0]) / 25.5) == wanted[2]
    gl.uniform4f(tint, 0.9, 0.0, 0.0, 1.0)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    raw = np.frombuffer(bytes(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)), np.uint8)
    assert round(int(raw[0]) / 25.5) == wanted[2]
    gl.bind_drawables(None, None)
    assert errors(gl) == []
    for window in windows:
        window.release()
    gl.release()
