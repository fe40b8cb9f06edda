"""Benchmarks of texture sampling and of render targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.scenes.common import (
    benchmark,
    gl_matrix,
    look_at,
    perspective,
    plane,
    screen_filler,
    shaders,
    upload,
)

GLSL = shaders(__file__)

Draw = Callable[[], None]


def _noise(ctx: Any, size: int, seed: int) -> Any:
    data = np.random.default_rng(seed).integers(0, 256, (size, size, 4), dtype=np.uint8)
    return ctx.texture((size, size), 4, data.tobytes())


@benchmark("mipmaps")
def mipmaps(ctx: Any, size: tuple[int, int]) -> Draw:
    """a floor that runs to the horizon, trilinear"""
    program = ctx.program(GLSL["mipmaps.vertex"], GLSL["mipmaps.fragment"])
    texture = _noise(ctx, 512, 4)
    texture.build_mipmaps()
    texture.filter = ctx.LINEAR_MIPMAP_LINEAR, ctx.LINEAR
    matrix = perspective(70, size[0] / size[1], 0.1, 100) @ look_at((0, 0.4, 0), (0, -1.2, -9))
    program["matrix"].write(gl_matrix(matrix))
    floor = upload(ctx, program, "3f 3x 2f", plane(40.0), "position . uv", ctx.TRIANGLES)

    def draw() -> None:
        texture.use(0)
        floor.render()

    return draw


@benchmark("blur")
def blur(ctx: Any, size: tuple[int, int]) -> Draw:
    """the mean of 49 bilinear taps of a texture of 2048 x 2048"""
    _, array = screen_filler(ctx, GLSL["blur.fragment"])
    texture = _noise(ctx, 2048, 5)

    def draw() -> None:
        texture.use(0)
        array.render()

    return draw


@benchmark("four_targets")
def four_targets(ctx: Any, size: tuple[int, int]) -> Draw:
    """four colour buffers written at once, one of them of half floats, then all of them read"""
    _, first = screen_filler(ctx, GLSL["four_targets.write"])
    read, second = screen_filler(ctx, GLSL["four_targets.read"])
    for unit, name in enumerate("abcd"):
        read[name].value = unit
    screen = ctx.fbo
    targets = [ctx.texture(size, 4, dtype="f2" if k == 3 else "f1") for k in range(4)]
    for target in targets:
        target.filter = ctx.NEAREST, ctx.NEAREST
    buffers = ctx.framebuffer(targets)

    def draw() -> None:
        buffers.use()
        first.render()
        screen.use()
        for unit, target in enumerate(targets):
            target.use(unit)
        second.render()

    return draw
