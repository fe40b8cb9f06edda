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
    sphere,
    upload,
)

VERTEX = """
#version 330
in vec3 position;
uniform mat4 matrix;
flat out int instance;
void main() {
    int column = gl_InstanceID % 4 - 2;
    int row = gl_InstanceID / 4 - 1;
    gl_Position = matrix * vec4(position * 0.4 + vec3(float(column) + 0.5, float(row), 0.0), 1.0);
    instance = gl_InstanceID;
}
"""
FRAGMENT = """
#version 330
flat in int instance;
out uvec2 number;
void main() { number = uvec2(uint(instance) + 1u, uint(gl_PrimitiveID)); }
"""
SHOW = """
#version 330
uniform usampler2D numbers;
uniform uint chosen;
out vec4 color;
void main() {
    uvec2 number = texelFetch(numbers, ivec2(gl_FragCoord.xy), 0).rg;
    if (number.x == 0u) color = vec4(0.0);
    else if (number.x == chosen) color = vec4(1.0, float(number.y & 7u) / 8.0, 0.0, 1.0);
    else color = vec4(vec3(uvec3(number.x) >> uvec3(0u, 1u, 2u) & 1u) * 0.5 + 0.25, 1.0);
}
"""


@scene("picking", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Twelve balls, their numbers and their triangles' in an unsigned target; one is chosen."""
    program = ctx.program(VERTEX, FRAGMENT)
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
    show, screen = screen_filler(ctx, SHOW)
    picture = ctx.framebuffer([ctx.texture(size, 4)])
    picture.use()
    numbers.filter = ctx.NEAREST, ctx.NEAREST
    numbers.use(0)
    for name, value in (("numbers", 0), (f"number {chosen} chosen", chosen)):
        show["chosen"].value = value
        picture.clear()
        screen.render()
        yield capture(name, picture)
