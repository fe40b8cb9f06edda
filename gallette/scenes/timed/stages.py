"""Benchmarks of the other stages: compute, geometry and tessellation shaders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.scenes.common import COMMON, benchmark, screen_filler, shaders, upload

GLSL = shaders(__file__)

Draw = Callable[[], None]


def _shown(ctx: Any, size: tuple[int, int]) -> Draw:
    """Draws the numbers of the buffer at binding 1, a block of 8 x 8 pixels each."""
    program, array = screen_filler(ctx, GLSL["shown"])
    program["columns"].value = size[0] // 8
    return lambda: array.render()


@benchmark("reduction", size=(256, 256), version=430)
def reduction(ctx: Any, size: tuple[int, int]) -> Draw:
    """a compute shader sums 1,048,576 numbers in groups of 256, in shared memory"""
    shader = ctx.compute_shader(GLSL["reduction"])
    numbers = np.random.default_rng(6).integers(0, 16, 1 << 20).astype(np.float32)
    source, sums = ctx.buffer(numbers.tobytes()), ctx.buffer(reserve=1 << 14)
    show = _shown(ctx, size)

    def draw() -> None:
        source.bind_to_storage_buffer(0)
        sums.bind_to_storage_buffer(1)
        shader.run(4096)
        ctx.memory_barrier()
        show()

    return draw


@benchmark("nbody", size=(256, 256), version=430)
def nbody(ctx: Any, size: tuple[int, int]) -> Draw:
    """a compute shader adds up the pull of 1,024 bodies on one another"""
    shader = ctx.compute_shader(GLSL["nbody"])
    bodies = np.random.default_rng(7).uniform(-1, 1, (1024, 4)).astype(np.float32)
    source, pulls = ctx.buffer(bodies.tobytes()), ctx.buffer(reserve=1 << 14)
    show = _shown(ctx, size)

    def draw() -> None:
        source.bind_to_storage_buffer(0)
        pulls.bind_to_storage_buffer(1)
        shader.run(16)
        ctx.memory_barrier()
        show()

    return draw


@benchmark("geometry")
def geometry(ctx: Any, size: tuple[int, int]) -> Draw:
    """a geometry shader turns 20,000 points into squares"""
    program = ctx.program(
        vertex_shader=COMMON["full_screen"],
        geometry_shader=GLSL["geometry.geometry"],
        fragment_shader=GLSL["geometry.fragment"],
    )
    points = np.random.default_rng(8).uniform(-1, 1, (20000, 2))
    array = upload(ctx, program, "2f", points, "position", ctx.POINTS)
    return lambda: array.render()


@benchmark("tessellation", version=410)
def tessellation(ctx: Any, size: tuple[int, int]) -> Draw:
    """256 patches at level 12: 73,728 triangles of a wavy sheet"""
    program = ctx.program(
        vertex_shader=GLSL["tessellation.vertex"],
        tess_control_shader=GLSL["tessellation.tess_control"],
        tess_evaluation_shader=GLSL["tessellation.tess_evaluation"],
        fragment_shader=GLSL["tessellation.fragment"],
    )
    y, x = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    corners = np.stack(
        [
            np.stack(((x + dx) / 8 - 1, (y + dy) / 8 - 1), -1)
            for dx, dy in ((0, 0), (1, 0), (1, 1), (0, 1))
        ],
        axis=-2,
    )
    array = upload(ctx, program, "2f", corners.reshape(-1, 2), "position", ctx.PATCHES)

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        ctx.patch_vertices = 4
        array.render()

    return draw
