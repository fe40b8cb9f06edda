"""Benchmarks of the way to a draw: many small ones with state, arrays and textures changing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.scenes.common import Array, benchmark, shaders, upload

GLSL = shaders(__file__)

Draw = Callable[[], None]

SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)


def places_on_a_grid(count: int, columns: int = 40) -> list[tuple[float, float, float]]:
    """Places on a grid that fills the picture, each with a depth of its own."""
    rows = -(-count // columns)
    return [
        ((k % columns + 0.5) / columns * 2 - 1, (k // columns + 0.5) / rows * 2 - 1, k % 7 / 8)
        for k in range(count)
    ]


@benchmark("state_draws")
def state_draws(ctx: Any, size: tuple[int, int]) -> Draw:
    """1,000 draws of two triangles, blending, depth test or culling changed before each"""
    program = ctx.program(GLSL["placed"], GLSL["tinted"])
    array = upload(ctx, program, "2f", SQUARE, "position", ctx.TRIANGLES)
    places = places_on_a_grid(1000)
    place, tint = program["place"], program["tint"]
    states = (ctx.NOTHING, ctx.BLEND, ctx.DEPTH_TEST, ctx.DEPTH_TEST | ctx.BLEND, ctx.CULL_FACE)

    def draw() -> None:
        for k, at in enumerate(places):
            ctx.enable_only(states[k % len(states)])
            place.value = at
            tint.value = (k % 5 / 4, k % 11 / 10, 0.5, 0.75)
            array.render()
        ctx.enable_only(ctx.NOTHING)

    return draw


@benchmark("array_draws")
def array_draws(ctx: Any, size: tuple[int, int]) -> Draw:
    """2,000 draws, each with a vertex array and a texture other than the one before"""
    program = ctx.program(GLSL["placed"], GLSL["textured"])
    arrays = [
        upload(ctx, program, "2f", SQUARE * (1 - k / 16), "position", ctx.TRIANGLES)
        for k in range(8)
    ]
    noise = np.random.default_rng(2).integers(0, 256, (16, 16, 16, 4), dtype=np.uint8)
    textures = [ctx.texture((16, 16), 4, picture.tobytes()) for picture in noise]
    places = places_on_a_grid(2000, 50)
    place = program["place"]

    def draw() -> None:
        for k, at in enumerate(places):
            textures[k % 16].use(0)
            place.value = at
            arrays[k % 8].render()

    return draw


def _quads(count: int, seed: int) -> Array:
    """Turned quads all over the picture, as triangles: position xy, colour rgba."""
    random = np.random.default_rng(seed)
    center = random.uniform(-1, 1, (count, 1, 2))
    extent = random.uniform(0.03, 0.12, (count, 1, 1))
    angle = random.uniform(0, 2 * np.pi, count)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.stack((np.stack((c, s), -1), np.stack((-s, c), -1)), 1)
    corners = center + SQUARE @ turn * extent
    colors = np.broadcast_to(random.uniform(0.1, 0.9, (count, 1, 4)), (count, 6, 4))
    return np.concatenate((corners, colors), axis=2).reshape(-1, 6)


@benchmark("blended_quads")
def blended_quads(ctx: Any, size: tuple[int, int]) -> Draw:
    """2,000 overlapping blended quads in one draw"""
    program = ctx.program(GLSL["blended_quads.vertex"], GLSL["blended_quads.fragment"])
    mesh = upload(ctx, program, "2f 4f", _quads(2000, 3), "position paint", ctx.TRIANGLES)

    def draw() -> None:
        ctx.enable(ctx.BLEND)
        ctx.blend_func = ctx.SRC_ALPHA, ctx.ONE_MINUS_SRC_ALPHA
        mesh.render()
        ctx.disable(ctx.BLEND)

    return draw
