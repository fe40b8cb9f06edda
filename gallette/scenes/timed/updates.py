"""Benchmarks of small draws with something in between: writes to buffers and textures, queries.

Drivers that collect draws in batches, or prepare state ahead, should not lose that here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.scenes.common import benchmark, shaders, upload
from gallette.scenes.timed.states import GLSL as STATES
from gallette.scenes.timed.states import SQUARE, places_on_a_grid

GLSL = shaders(__file__)

Draw = Callable[[], None]


@benchmark("written_buffers")
def written_buffers(ctx: Any, size: tuple[int, int]) -> Draw:
    """300 draws of two triangles, their vertex buffer written before each"""
    program = ctx.program(GLSL["painted"], GLSL["plain"])
    random = np.random.default_rng(4)
    written = []
    for x, y, _ in places_on_a_grid(300):
        paint = np.broadcast_to(random.uniform(0, 1, 3), (6, 3))
        vertices = np.concatenate((SQUARE * 0.03 + (x, y), paint), axis=1)
        written.append(vertices.astype(np.float32).tobytes())
    buffer = ctx.buffer(reserve=len(written[0]))
    array = ctx.vertex_array(program, [(buffer, "2f 3f", "position", "paint")])

    def draw() -> None:
        for data in written:
            buffer.write(data)
            array.render()

    return draw


@benchmark("instanced_draws")
def instanced_draws(ctx: Any, size: tuple[int, int]) -> Draw:
    """200 draws of 20 instances of two triangles, a uniform changed before each"""
    program = ctx.program(GLSL["strewn"], GLSL["plain"])
    random = np.random.default_rng(6)
    square = ctx.buffer(SQUARE.tobytes())
    strewn = ctx.buffer(random.uniform(-1, 1, (20, 4)).astype(np.float32).tobytes())
    array = ctx.vertex_array(program, [(square, "2f", "position"), (strewn, "4f/i", "place")])
    at, places = program["at"], places_on_a_grid(200)

    def draw() -> None:
        for x, y, _ in places:
            at.value = x, y
            array.render(instances=20)

    return draw


@benchmark("sample_queries")
def sample_queries(ctx: Any, size: tuple[int, int]) -> Draw:
    """100 draws of two triangles, the samples of each counted by a query, then all asked for"""
    program = ctx.program(STATES["placed"], STATES["tinted"])
    array = upload(ctx, program, "2f", SQUARE, "position", ctx.TRIANGLES)
    queries = [ctx.query(samples=True) for _ in range(100)]
    place, places = program["place"], places_on_a_grid(100)
    program["tint"].value = 1, 1, 1, 1

    def draw() -> None:
        for query, at in zip(queries, places, strict=True):
            with query:
                place.value = at
                array.render()
        if not any(query.samples for query in queries):
            raise AssertionError("nothing was counted")

    return draw


@benchmark("atlas_parts")
def atlas_parts(ctx: Any, size: tuple[int, int]) -> Draw:
    """200 parts of a texture written, each before a draw that samples it"""
    program = ctx.program(STATES["placed"], STATES["textured"])
    array = upload(ctx, program, "2f", SQUARE, "position", ctx.TRIANGLES)
    atlas = ctx.texture((256, 256), 4)
    atlas.filter = ctx.NEAREST, ctx.NEAREST
    random = np.random.default_rng(8)
    pictures = [part.tobytes() for part in random.integers(0, 256, (200, 16, 16, 4), np.uint8)]
    place, places = program["place"], places_on_a_grid(200)

    def draw() -> None:
        atlas.use(0)
        for k, (picture, at) in enumerate(zip(pictures, places, strict=True)):
            atlas.write(picture, viewport=(k % 16 * 16, k // 16 * 16, 16, 16))
            place.value = at
            array.render()

    return draw
