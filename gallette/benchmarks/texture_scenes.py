"""Benchmarks of texture sampling and of render targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.benchmarks.registry import benchmark
from gallette.scenes.common import gl_matrix, look_at, perspective, plane, quad, upload

__all__: list[str] = []

Draw = Callable[[], None]

FULL_SCREEN = """
#version 330
in vec2 position;
out vec2 uv;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    uv = position * 0.5 + 0.5;
}
"""


def _noise(ctx: Any, size: int, seed: int) -> Any:
    data = np.random.default_rng(seed).integers(0, 256, (size, size, 4), dtype=np.uint8)
    return ctx.texture((size, size), 4, data.tobytes())


@benchmark("mipmaps")
def mipmaps(ctx: Any, size: tuple[int, int]) -> Draw:
    """a floor that runs to the horizon, trilinear"""
    program = ctx.program(
        """
        #version 330
        in vec3 position;
        in vec2 uv;
        uniform mat4 matrix;
        out vec2 at;
        void main() {
            gl_Position = matrix * vec4(position, 1.0);
            at = uv * 24.0;
        }
        """,
        """
        #version 330
        uniform sampler2D image;
        in vec2 at;
        out vec4 color;
        void main() {
            color = texture(image, at);
        }
        """,
    )
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
    program = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        uniform sampler2D image;
        in vec2 uv;
        out vec4 color;
        void main() {
            vec2 texel = 1.0 / vec2(textureSize(image, 0));
            vec4 sum = vec4(0.0);
            for (int y = -3; y <= 3; y++)
                for (int x = -3; x <= 3; x++)
                    sum += texture(image, uv + vec2(x, y) * texel);
            color = sum / 49.0;
        }
        """,
    )
    texture = _noise(ctx, 2048, 5)
    array = upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)

    def draw() -> None:
        texture.use(0)
        array.render()

    return draw


@benchmark("four_targets")
def four_targets(ctx: Any, size: tuple[int, int]) -> Draw:
    """four colour buffers written at once, one of them of half floats, then all of them read"""
    write = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        in vec2 uv;
        layout(location = 0) out vec4 a;
        layout(location = 1) out vec4 b;
        layout(location = 2) out vec4 c;
        layout(location = 3) out vec4 d;
        void main() {
            a = vec4(uv, 0.5, 1.0);
            b = vec4(uv.yx, uv.x * uv.y, 1.0);
            c = vec4(fract(uv * 7.0), 0.25, 1.0);
            d = vec4(1.0 - uv, uv.x, 1.0);
        }
        """,
    )
    read = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        uniform sampler2D a;
        uniform sampler2D b;
        uniform sampler2D c;
        uniform sampler2D d;
        in vec2 uv;
        out vec4 color;
        void main() {
            color = 0.25 * (texture(a, uv) + texture(b, uv) + texture(c, uv) + texture(d, uv));
        }
        """,
    )
    for unit, name in enumerate("abcd"):
        read[name].value = unit
    screen = ctx.fbo
    targets = [ctx.texture(size, 4, dtype="f2" if k == 3 else "f1") for k in range(4)]
    for target in targets:
        target.filter = ctx.NEAREST, ctx.NEAREST
    buffers = ctx.framebuffer(targets)
    first = upload(ctx, write, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
    second = upload(ctx, read, "2f", quad(), "position", ctx.TRIANGLE_STRIP)

    def draw() -> None:
        buffers.use()
        first.render()
        screen.use()
        for unit, target in enumerate(targets):
            target.use(unit)
        second.render()

    return draw
