"""Mirrors: a stencil mask says where the mirrored world may show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    COMMON,
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    raw,
    scene,
    shaders,
    torus,
    upload,
    with_stencil,
)

GLSL = shaders(__file__)

STENCIL_TEST, ALWAYS, EQUAL, KEEP, REPLACE = 0x0B90, 0x0207, 0x0202, 0x1E00, 0x1E01


@scene("mirrors", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ring between two mirrors: each mirror's number in the stencil buffer, its reflection drawn
    where that number stands.
    """
    gl = raw(ctx)
    program = ctx.program(COMMON["with_normals"], GLSL["fragment"])
    view = perspective(45, size[0] / size[1], 0.1, 20) @ look_at((0.6, 1.1, 3.4))
    ring = upload(ctx, program, "3f 3f 2f", torus(24, 12), "position normal uv")
    panes = []
    for x in (-1.4, 1.4):
        corners = [(x, -0.8, -0.9), (x, -0.8, 0.9), (x, 0.8, -0.9), (x, 0.8, 0.9)]
        rows = np.array([(*c, 0.0, 1.0, 0.0) for c in corners], np.float32)
        panes.append((x, upload(ctx, program, "3f 3f", rows, "position normal")))
    target, buffer = with_stencil(ctx, size)
    gl.clear_stencil(0)
    target.clear(0.1, 0.1, 0.12, 1.0)
    gl.clear(0x0400)
    ctx.enable(ctx.DEPTH_TEST)
    gl.enable(STENCIL_TEST)
    program["matrix"].write(gl_matrix(view))
    program["tint"].value = (0.15, 0.2, 0.25)
    gl.depth_mask(0)
    for number, (_, pane) in enumerate(panes, 1):
        gl.stencil_func(ALWAYS, number, 0xFF)
        gl.stencil_op(KEEP, KEEP, REPLACE)
        pane.render(ctx.TRIANGLE_STRIP)
    gl.depth_mask(1)
    yield capture("masks", target)

    gl.stencil_op(KEEP, KEEP, KEEP)
    program["tint"].value = (0.9, 0.5, 0.3)
    for number, (x, _) in enumerate(panes, 1):
        mirror = np.diag([-1.0, 1.0, 1.0, 1.0])
        mirror[0, 3] = 2 * x
        program["matrix"].write(gl_matrix(view @ mirror))
        gl.stencil_func(EQUAL, number, 0xFF)
        ring.render()
    yield capture("reflections", target)

    gl.disable(STENCIL_TEST)
    gl.clear(0x0100)
    program["matrix"].write(gl_matrix(view))
    program["tint"].value = (1.0, 0.8, 0.4)
    ring.render()
    yield capture("the ring itself", target)
    gl.delete_renderbuffers(1, [buffer])
