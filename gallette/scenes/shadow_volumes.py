"""Shadow volumes: what is in the shade is counted in the stencil buffer, both faces in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    plane,
    raw,
    scene,
    shaders,
    upload,
    with_stencil,
)

GLSL = shaders(__file__)

STENCIL_TEST, FRONT, BACK = 0x0B90, 0x0404, 0x0405
ALWAYS, EQUAL, KEEP, INCR_WRAP, DECR_WRAP = 0x0207, 0x0202, 0x1E00, 0x8507, 0x8508
LIGHT = np.array([1.0, 3.0, 0.5])
SLAB = np.array([[-0.6, 0.3, -0.4], [0.5, 0.2, -0.5], [0.6, 0.4, 0.5], [-0.5, 0.3, 0.4]])


def _volume() -> np.ndarray[Any, Any]:
    """The slab, its projection far below, and the walls between: closed, faces outwards."""
    far = SLAB + (SLAB - LIGHT) * 1.5
    a, b, c, d = SLAB
    e, f, g, h = far
    faces = [(a, d, c, b), (e, f, g, h), (a, b, f, e), (b, c, g, f), (c, d, h, g), (d, a, e, h)]
    return np.array([v for p, q, r, s in faces for v in (p, q, r, p, r, s)], np.float32)


@scene("shadow_volumes", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A slab over a floor: the shadow's volume counted in the stencil buffer, then light where it
    is zero.
    """
    gl = raw(ctx)
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    matrix = perspective(45, size[0] / size[1], 0.1, 20) @ look_at((2.0, 2.2, 3.0))
    program["matrix"].write(gl_matrix(matrix))
    floor = upload(ctx, program, "3f", plane(2.0)[:, :3], "position")
    top = np.array([SLAB[i] for i in (0, 1, 2, 0, 2, 3)], np.float32)
    slab = upload(ctx, program, "3f", top, "position")
    volume = upload(ctx, program, "3f", _volume(), "position")
    target, buffer = with_stencil(ctx, size)
    gl.clear_stencil(0)
    target.clear()
    gl.clear(0x0400)
    ctx.enable(ctx.DEPTH_TEST)
    program["tint"].value = (0.2, 0.22, 0.3, 1.0)
    floor.render()
    program["tint"].value = (0.5, 0.3, 0.2, 1.0)
    slab.render()
    yield capture("ambient", target)

    gl.enable(STENCIL_TEST)
    gl.color_mask(0, 0, 0, 0)
    gl.depth_mask(0)
    gl.stencil_func(ALWAYS, 0, 0xFF)
    gl.stencil_op_separate(FRONT, KEEP, DECR_WRAP, KEEP)
    gl.stencil_op_separate(BACK, KEEP, INCR_WRAP, KEEP)
    volume.render()
    gl.color_mask(1, 1, 1, 1)
    gl.stencil_func(EQUAL, 0, 0xFF)
    gl.stencil_op(KEEP, KEEP, KEEP)
    gl.depth_func(0x0203)  # LEQUAL: the same surfaces again
    program["tint"].value = (0.75, 0.72, 0.6, 1.0)
    floor.render()
    yield capture("lit where no shadow is", target)
    gl.stencil_func(0x0205, 0, 0xFF)  # NOTEQUAL
    gl.disable(0x0B71)
    program["tint"].value = (0.3, 0.1, 0.5, 1.0)
    volume.render()
    yield capture("where the count is not zero", target)
    gl.disable(STENCIL_TEST)
    gl.depth_mask(1)
    gl.depth_func(0x0201)  # LESS
    gl.delete_renderbuffers(1, [buffer])
