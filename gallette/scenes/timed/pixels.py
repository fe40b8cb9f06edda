"""Benchmarks of frames with few calls, whose time goes into pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.scenes import gradient as gradient_scene
from gallette.scenes import lit_mesh as lit_mesh_scene
from gallette.scenes.common import (
    COMMON,
    benchmark,
    gl_matrix,
    look_at,
    perspective,
    screen_filler,
    shaders,
    torus,
    upload,
)

GLSL = shaders(__file__)

Draw = Callable[[], None]


@benchmark("gradient")
def gradient(ctx: Any, size: tuple[int, int]) -> Draw:
    """one rectangle, interpolated colours, one sine"""
    _, array = screen_filler(ctx, gradient_scene.GLSL["fragment"])
    return lambda: array.render()


@benchmark("bilinear_texture")
def bilinear_texture(ctx: Any, size: tuple[int, int]) -> Draw:
    """one rectangle, one bilinear texture lookup per pixel"""
    _, array = screen_filler(ctx, GLSL["bilinear_texture"])
    noise = np.random.default_rng(1).integers(0, 256, (256, 256, 4), dtype=np.uint8)
    texture = ctx.texture((256, 256), 4, noise.tobytes())
    texture.filter = ctx.LINEAR, ctx.LINEAR
    texture.use(0)
    return lambda: array.render()


@benchmark("mandelbrot")
def mandelbrot(ctx: Any, size: tuple[int, int]) -> Draw:
    """a loop of up to 128 rounds that every pixel leaves at another time"""
    _, array = screen_filler(ctx, GLSL["mandelbrot"])
    return lambda: array.render()


@benchmark("lit_mesh")
def lit_mesh(ctx: Any, size: tuple[int, int]) -> Draw:
    """a Phong-lit torus of 16,384 triangles with depth test"""
    program = ctx.program(lit_mesh_scene.GLSL["vertex"], lit_mesh_scene.GLSL["fragment"])
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
    program = ctx.program(COMMON["positions"], GLSL["overdraw.fragment"])
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
    program, array = screen_filler(ctx, GLSL["small_draws.fragment"], GLSL["small_draws.vertex"])
    places = [(k % 40 / 20 - 0.975, k // 40 / 12.5 - 0.96) for k in range(1000)]
    place = program["place"]

    def draw() -> None:
        for at in places:
            place.value = at
            array.render()

    return draw
