"""Quads of merged draws are cut as in single ones: by whether their own draw is clipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL

SIDE = 64
# A quad that is not flat: the two diagonals give other depths.
QUAD = [(-0.7, -0.7, -0.5), (0.7, -0.7, 0.5), (0.7, 0.7, -0.5), (-0.7, 0.7, 0.5)]


def depths(driver: str, counts: list[int], alone: bool, instances: int = 1) -> Any:
    """Draw so many quads at a time, every third beyond the left side of the view."""
    gl = create_context(driver, profile="compat", version=(4, 5))
    gl.make_current()
    framebuffer, (color, depth) = gl.gen_framebuffers(1)[0], gl.gen_renderbuffers(2)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    for name, format, attachment in (
        (color, GL.RGBA8, GL.COLOR_ATTACHMENT0),
        (depth, GL.DEPTH_COMPONENT24, GL.DEPTH_ATTACHMENT),
    ):
        gl.bind_renderbuffer(GL.RENDERBUFFER, name)
        gl.renderbuffer_storage(GL.RENDERBUFFER, format, SIDE, SIDE)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, attachment, GL.RENDERBUFFER, name)
    gl.viewport(0, 0, SIDE, SIDE)
    gl.enable(GL.DEPTH_TEST)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    vertices = np.array(QUAD * max(counts), np.float32)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(3, GL.FLOAT, 0, vertices)
    for number, count in enumerate(counts):
        x, y = number % 6 / 4.0 - 0.6, number // 6 / 4.0 - 0.6
        gl.load_identity()
        gl.translatef(-1.0 if number % 3 == 0 else x, y, 0.0)
        gl.scalef(0.2, 0.2, 0.2)
        if instances > 1:
            gl.draw_arrays_instanced(GL.QUADS, 0, 4 * count, instances)
        else:
            gl.draw_arrays(GL.QUADS, 0, 4 * count)
        if alone:
            gl.finish()
    found = np.zeros((SIDE, SIDE), np.uint32)
    gl.read_pixels(0, 0, SIDE, SIDE, GL.DEPTH_COMPONENT, GL.UNSIGNED_INT, found)
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
    return found


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize(
    ("counts", "instances"),
    [([1] * 40, 1), ([1, 2, 3, 1, 2] * 8, 1), ([2, 1] * 20, 3)],
    ids=["alike", "several counts", "instances"],
)
def test_merged_draws_have_the_depths_of_single_ones(
    driver: str, counts: list[int], instances: int
) -> None:
    single = depths(driver, counts, True, instances)
    assert (single < single.max()).sum() > 200
    np.testing.assert_array_equal(depths(driver, counts, False, instances), single)
