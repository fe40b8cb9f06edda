"""Deferred shading: geometry into several targets at once, light from them afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    capture_depth,
    gl_matrix,
    look_at,
    perspective,
    scene,
    screen_filler,
    shaders,
    sphere,
    torus,
    upload,
)

GLSL = shaders(__file__)


@scene("deferred", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ball in a ring, drawn into albedo, normal and position targets, then lit by three lamps."""
    program = ctx.program(GLSL["geometry_vertex"], GLSL["geometry_fragment"])
    matrix = perspective(45, size[0] / size[1], 0.1, 12) @ look_at((0.7, 1.6, 1.9))
    program["matrix"].write(gl_matrix(matrix))
    targets = [ctx.texture(size, 4), *(ctx.texture(size, 4, dtype="f4") for _ in range(2))]
    depth = ctx.depth_texture(size)
    geometry = ctx.framebuffer(targets, depth)
    geometry.use()
    geometry.clear()
    ctx.enable(ctx.DEPTH_TEST)
    names = "position normal uv"
    for mesh in (torus(48, 12), sphere(32, 16, 0.4)):
        upload(ctx, program, "3f 3f 2f", mesh, names, ctx.TRIANGLES).render()
    for index, name in enumerate(("albedo", "normals", "positions")):
        yield capture(name, geometry, attachment=index)
    yield capture_depth("depth", depth)

    light, screen = screen_filler(ctx, GLSL["light_fragment"])
    for unit, (name, texture) in enumerate(
        zip(("albedo", "normals", "positions"), targets, strict=True)
    ):
        texture.filter = ctx.NEAREST, ctx.NEAREST
        texture.use(unit)
        light[name].value = unit
    light["lamps"].value = [(1.0, 1.0, 1.0), (-1.2, 0.8, 0.6), (0.0, 0.4, -1.0)]
    light["colors"].value = [(1.0, 0.9, 0.7), (0.2, 0.5, 1.0), (0.2, 0.9, 0.3)]
    ctx.disable(ctx.DEPTH_TEST)
    final = ctx.framebuffer([ctx.texture(size, 4)])
    final.use()
    final.clear()
    screen.render()
    yield capture("lit", final)
