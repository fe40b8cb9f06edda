"""A geometry shader at work: flat facets, and a line along every facet's normal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    scene,
    shaders,
    sphere,
    upload,
)

GLSL = shaders(__file__)


@scene("normals", size=(192, 144), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ball in flat facets, and a spike on each: triangles in, triangles or lines out."""
    matrix = gl_matrix(perspective(45, size[0] / size[1], 0.1, 10) @ look_at((1.2, 1.4, 2.6)))
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    for name, geometry, fragment in (
        ("facets", GLSL["facets"], GLSL["facet_color"]),
        ("spikes", GLSL["spikes"], GLSL["spike_color"]),
    ):
        program = ctx.program(GLSL["vertex"], fragment, geometry)
        program["matrix"].write(matrix)
        mesh = upload(ctx, program, "3f 3f 2f", sphere(12, 6), "position normal uv", ctx.TRIANGLES)
        mesh.render()
        yield capture(name, target)
