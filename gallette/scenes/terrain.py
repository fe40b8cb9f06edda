"""Tessellation and compute: heights made by a compute shader, patches refined over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, gl_matrix, look_at, perspective, scene, shaders

GLSL = shaders(__file__)


@scene("terrain", size=(192, 144), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Hills: a compute shader writes heights, tessellation makes points of sixteen patches.

    Points, because how the squares between them are cut into triangles is left to implementations.
    """
    heights = ctx.buffer(reserve=64 * 64 * 4)
    heights.bind_to_storage_buffer(0)
    ctx.compute_shader(GLSL["heights"]).run(8, 8)
    ctx.memory_barrier()
    values = np.frombuffer(heights.read(), np.float32).reshape(64, 64)
    grey = np.repeat(values[..., None], 4, axis=-1).copy()
    grey[..., 3] = 1
    yield Pass("heights", grey, np.isfinite(values))

    program = ctx.program(
        vertex_shader=GLSL["vertex"],
        tess_control_shader=GLSL["control"],
        tess_evaluation_shader=GLSL["evaluation"],
        fragment_shader=GLSL["fragment"],
    )
    matrix = perspective(45, size[0] / size[1], 0.1, 10) @ look_at((0.6, 1.0, 2.4), (0, -0.3, 0))
    program["matrix"].write(gl_matrix(matrix))
    corners = [
        ((x + dx) / 4, (y + dy) / 4)
        for y in range(4)
        for x in range(4)
        for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1))
    ]
    buffer = ctx.buffer(np.array(corners, np.float32).tobytes())
    array = ctx.vertex_array(program, [(buffer, "2f", "place")], mode=ctx.PATCHES)
    ctx.patch_vertices = 4
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST | ctx.PROGRAM_POINT_SIZE)
    array.render(ctx.PATCHES)
    yield capture("hills", target)
