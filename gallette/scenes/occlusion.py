"""Screen-space occlusion: a depth buffer read back as a texture darkens the corners."""

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
    plane,
    scene,
    screen_filler,
    shaders,
    sphere,
    upload,
)

GLSL = shaders(__file__)


@scene("occlusion", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Balls on a floor: their depth, what hides of each pixel's surroundings, and that smoothed."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    matrix = perspective(45, size[0] / size[1], 0.5, 16) @ look_at((1.5, 1.5, 3.5))
    program["matrix"].write(gl_matrix(matrix))
    ball = upload(ctx, program, "3f 3f 2f", sphere(24, 12), "position normal uv")
    floor = upload(ctx, program, "3f 3f 2f", plane(2.0, -1.0), "position normal uv")
    depth = ctx.depth_texture(size)
    depth.compare_func = ""
    depth.filter = ctx.NEAREST, ctx.NEAREST
    scene_target = ctx.framebuffer([ctx.texture(size, 4)], depth)
    scene_target.use()
    scene_target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    for place in ((-0.75, 0.0, 0.0), (0.5, 0.0, -0.25), (0.0, 0.25, 0.75)):
        program["place"].value = place
        ball.render()
    program["place"].value = (0.0, 0.0, 0.0)
    floor.render()
    yield capture_depth("depth", depth)
    ctx.disable(ctx.DEPTH_TEST)
    shade = ctx.texture(size, 4)
    for name, text, source, target in (
        ("hidden", GLSL["occlusion"], depth, ctx.framebuffer([shade])),
        ("smoothed", GLSL["smooth"], shade, ctx.framebuffer([ctx.texture(size, 4)])),
    ):
        step, screen = screen_filler(ctx, text)
        source.use(0)
        target.use()
        screen.render()
        yield capture(name, target)
        step.release()
