"""Picking: objects draw their numbers into an integer target; what is under the pointer is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    scene,
    screen_filler,
    shaders,
    sphere,
    upload,
)

GLSL = shaders(__file__)


@scene("picking", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Twelve balls, their numbers and their triangles' in an unsigned target; one is chosen."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    matrix = perspective(40, size[0] / size[1], 0.1, 20) @ look_at((1.0, 0.5, 5.0))
    program["matrix"].write(gl_matrix(matrix))
    balls = upload(ctx, program, "3f 3f 2f", sphere(16, 8), "position normal uv")
    numbers = ctx.texture(size, 2, dtype="u4")
    target = ctx.framebuffer([numbers], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    balls.render(instances=12)
    raw_numbers = np.frombuffer(numbers.read(), np.uint32).reshape(size[1], size[0], 2)
    chosen = int(raw_numbers[size[1] // 2 + 8, size[0] // 2 + 20, 0])
    ctx.disable(ctx.DEPTH_TEST)
    show, screen = screen_filler(ctx, GLSL["show"])
    picture = ctx.framebuffer([ctx.texture(size, 4)])
    picture.use()
    numbers.filter = ctx.NEAREST, ctx.NEAREST
    numbers.use(0)
    for name, value in (("numbers", 0), (f"number {chosen} chosen", chosen)):
        show["chosen"].value = value
        picture.clear()
        screen.render()
        yield capture(name, picture)
