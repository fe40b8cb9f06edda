"""Selection and feedback: what native GL reports, we report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.helpers import errors


def _scene(gl: Any) -> None:
    gl.init_names()
    gl.push_name(7)
    gl.rectf(-0.5, -0.5, 0.5, 0.5)
    gl.load_name(8)
    gl.rectf(2.0, 2.0, 3.0, 3.0)
    gl.push_name(9)
    gl.begin(GL.LINES)
    gl.vertex3f(-2.0, 0.0, -0.5)
    gl.vertex3f(0.0, 0.0, 0.5)
    gl.end()
    gl.pop_name()
    gl.begin(GL.POINTS)
    gl.vertex3f(0.1, 0.1, 0.25)
    gl.end()


def test_selection(compat: GLInterface) -> None:
    words = np.zeros(64, np.uint32)
    compat.select_buffer(64, words)
    assert compat.render_mode(GL.SELECT) == 0
    _scene(compat)
    assert compat.get_integerv(GL.NAME_STACK_DEPTH) == [1]
    assert compat.render_mode(GL.RENDER) == 3
    assert errors(compat) == []
    assert words[:4].tolist() == [1, words[1], words[1], 7]
    assert words[4] == 2 and words[7:9].tolist() == [8, 9]
    assert words[9] == 1 and words[12] == 8
    depths = words[[1, 5, 6, 10]].astype(np.float64) / 0xFFFFFFFF
    assert depths == pytest.approx([0.5, 0.5, 0.75, 0.625], abs=1e-6)


def test_feedback(compat: GLInterface) -> None:
    values = np.zeros(64, np.float32)
    compat.feedback_buffer(64, GL._3D_COLOR, values)
    compat.render_mode(GL.FEEDBACK)
    compat.color3f(0.25, 0.5, 0.75)
    compat.pass_through(3.0)
    compat.begin(GL.TRIANGLES)
    for x, y in ((-1, -1), (1, -1), (0, 1)):
        compat.vertex2f(x, y)
    compat.end()
    compat.begin(GL.POINTS)
    compat.vertex2f(5.0, 0.0)
    compat.vertex2f(0.5, 0.0)
    compat.end()
    assert compat.render_mode(GL.RENDER) == 2 + 2 + 3 * 7 + 1 + 7
    expected = [GL.PASS_THROUGH_TOKEN, 3.0, GL.POLYGON_TOKEN, 3.0]
    for x, y in ((0, 0), (64, 0), (32, 64)):
        expected += [x, y, 0.5, 0.25, 0.5, 0.75, 1.0]
    expected += [GL.POINT_TOKEN, 48, 32, 0.5, 0.25, 0.5, 0.75, 1.0]
    assert values[: len(expected)].tolist() == pytest.approx(expected, abs=1e-3)


def test_buffers_that_are_too_small_and_modes_without_one(compat: GLInterface) -> None:
    compat.render_mode(GL.SELECT)
    assert errors(compat) == ["GL_INVALID_OPERATION"]
    words = np.zeros(2, np.uint32)
    compat.select_buffer(2, words)
    compat.render_mode(GL.SELECT)
    compat.select_buffer(2, words)
    assert errors(compat) == ["GL_INVALID_OPERATION"]
    _scene(compat)
    assert compat.render_mode(GL.RENDER) == -1
    compat.load_name(3)
    compat.pop_name()
    assert errors(compat) == []
