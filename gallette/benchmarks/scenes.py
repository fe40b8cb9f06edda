"""The six benchmark scenes. The framebuffer is bound and cleared by the caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.benchmarks.registry import benchmark
from gallette.scenes import gradient as gradient_scene
from gallette.scenes import lit_mesh as lit_mesh_scene
from gallette.scenes.common import gl_matrix, look_at, perspective, quad, torus, upload

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


@benchmark("gradient")
def gradient(ctx: Any, size: tuple[int, int]) -> Draw:
    """one rectangle, interpolated colours, one sine"""
    program = ctx.program(FULL_SCREEN, gradient_scene.FRAGMENT)
    array = upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
    return lambda: array.render()


@benchmark("bilinear_texture")
def bilinear_texture(ctx: Any, size: tuple[int, int]) -> Draw:
    """one rectangle, one bilinear texture lookup per pixel"""
    program = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        uniform sampler2D image;
        in vec2 uv;
        out vec4 color;
        void main() {
            color = texture(image, uv * 1.7 + 0.1);
        }
        """,
    )
    noise = np.random.default_rng(1).integers(0, 256, (256, 256, 4), dtype=np.uint8)
    texture = ctx.texture((256, 256), 4, noise.tobytes())
    texture.filter = ctx.LINEAR, ctx.LINEAR
    texture.use(0)
    array = upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
    return lambda: array.render()


@benchmark("mandelbrot")
def mandelbrot(ctx: Any, size: tuple[int, int]) -> Draw:
    """a loop of up to 128 rounds that every pixel leaves at another time"""
    program = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        in vec2 uv;
        out vec4 color;
        void main() {
            vec2 c = (uv - vec2(0.72, 0.5)) * 2.6;
            vec2 z = vec2(0.0);
            int rounds = 0;
            for (; rounds < 128; rounds++) {
                if (dot(z, z) > 4.0)
                    break;
                z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
            }
            color = vec4(vec3(float(rounds) / 128.0), 1.0);
        }
        """,
    )
    array = upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
    return lambda: array.render()


@benchmark("lit_mesh")
def lit_mesh(ctx: Any, size: tuple[int, int]) -> Draw:
    """a Phong-lit torus of 16,384 triangles with depth test"""
    program = ctx.program(lit_mesh_scene.VERTEX, lit_mesh_scene.FRAGMENT)
    eye = (1.0, 1.2, 1.3)
    program["matrix"].write(gl_matrix(perspective(45, size[0] / size[1], 0.1, 10) @ look_at(eye)))
    program["lamp"].value = (2.0, 3.0, 1.0)
    program["eye"].value = eye
    names = "position normal uv"
    mesh = upload(ctx, program, "3f 3f 2f", torus(128, 64), names, ctx.TRIANGLES)

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        mesh.render()

    return draw


@benchmark("overdraw")
def overdraw(ctx: Any, size: tuple[int, int]) -> Draw:
    """16 full-screen layers, back to front, depth-tested, a costly shader"""
    program = ctx.program(
        """
        #version 330
        in vec3 position;
        out vec3 p;
        void main() {
            gl_Position = vec4(position, 1.0);
            p = position;
        }
        """,
        """
        #version 330
        in vec3 p;
        out vec4 color;
        void main() {
            vec3 v = p;
            for (int i = 0; i < 8; i++)
                v = fract(v * 1.7 + v.yzx * 0.3);
            color = vec4(sqrt(v), 1.0);
        }
        """,
    )
    layers = []
    for k in range(16):
        z = 0.9 - k * 0.1
        for x, y in ((-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1)):
            layers.append((x, y, z))
    mesh = upload(ctx, program, "3f", np.array(layers), "position", ctx.TRIANGLES)

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        mesh.render()

    return draw


@benchmark("small_draws")
def small_draws(ctx: Any, size: tuple[int, int]) -> Draw:
    """1,000 draws of two triangles each, a uniform changed before every one"""
    program = ctx.program(
        """
        #version 330
        in vec2 position;
        uniform vec2 place;
        void main() {
            gl_Position = vec4(position * 0.02 + place, 0.0, 1.0);
        }
        """,
        """
        #version 330
        uniform vec2 place;
        out vec4 color;
        void main() {
            color = vec4(place * 0.5 + 0.5, 0.5, 1.0);
        }
        """,
    )
    array = upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
    places = [(k % 40 / 20 - 0.975, k // 40 / 12.5 - 0.96) for k in range(1000)]
    place = program["place"]

    def draw() -> None:
        for at in places:
            place.value = at
            array.render()

    return draw
