"""Conditional rendering: objects behind a wall are not drawn, and no query result is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, shaders, upload

GLSL = shaders(__file__)


@scene("conditional", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Nine boxes are tested against a wall; for those that show, a larger thing is drawn."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    square = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
    box = upload(ctx, program, "2f", square, "position", ctx.TRIANGLE_STRIP)
    wall = upload(ctx, program, "2f", square * (1.6, 3.0), "position", ctx.TRIANGLE_STRIP)
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    program["place"].value, program["tint"].value = (0.1, 0.0, 0.0), (0.4, 0.3, 0.3)
    wall.render()
    yield capture("the wall", target)
    places = [(x, y, 0.5) for x in (-0.65, 0.1, 0.7) for y in (-0.6, 0.0, 0.6)]
    queries = []
    target.color_mask = False, False, False, False
    target.depth_mask = False
    for place in places:
        query = ctx.query(samples=True)
        program["place"].value = place
        with query:
            box.render()
        queries.append(query)
    target.color_mask = True, True, True, True
    ctx.disable(ctx.DEPTH_TEST)
    ctx.finish()  # moderngl asks not to wait: an answer that is not there yet would draw the box
    for number, (place, query) in enumerate(zip(places, queries, strict=True)):
        program["place"].value = place
        program["tint"].value = (0.2 + number * 0.08, 0.9 - number * 0.08, 0.5)
        with query.crender:
            box.render()
    yield capture("what can be seen", target)
    counts = [query.samples for query in queries]
    program["tint"].value = (1.0, 1.0, 1.0)
    for (x, y, z), count in zip(places, counts, strict=True):
        program["place"].value = (x, y - 0.3 + min(count, 400) / 2000, z)
        box.render(vertices=3)
    yield capture("how much of it", target)
