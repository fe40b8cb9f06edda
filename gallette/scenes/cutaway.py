"""An indexed box seen from outside and, cut open, from inside: culling, clipping, scissor, blit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, gl_matrix, look_at, perspective, scene, shaders

GLSL = shaders(__file__)

CLIP_DISTANCE0 = 0x3000
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


@scene("cutaway", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A box cut open by a clip distance, back faces culled, front faces culled, one half copied."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
    indices = np.array([(a, b, c, a, c, d) for a, b, c, d in FACES], np.int32)
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    matrix = perspective(45, size[0] / size[1], 0.1, 12) @ look_at((2.2, 2.0, 3.2))
    program["matrix"].write(gl_matrix(matrix))
    program["cut"].value = (-0.5, -0.75, -0.25, 0.75)
    box = ctx.vertex_array(
        program,
        [(ctx.buffer(corners.tobytes()), "3f", "position")],
        index_buffer=ctx.buffer(indices.tobytes()),
    )
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST | ctx.CULL_FACE)
    ctx.enable_direct(CLIP_DISTANCE0)
    program["tint"].value = (1.0, 0.9, 0.8)
    box.render()
    yield capture("outside", target)

    ctx.cull_face = "front"
    target.scissor = size[0] // 4, size[1] // 8, size[0] // 2, size[1] * 3 // 4
    program["tint"].value = (0.4, 0.6, 1.0)
    box.render()
    ctx.cull_face = "back"
    yield capture("inside", target)

    ctx.disable_direct(CLIP_DISTANCE0)
    target.scissor = None
    copy = ctx.framebuffer([ctx.texture(size, 4)])
    ctx.copy_framebuffer(copy, target)
    yield capture("copied", copy)
