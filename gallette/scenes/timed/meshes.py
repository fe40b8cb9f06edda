"""Benchmarks of triangles: very many, multisampled, in several passes, behind stencil masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.scenes import lit_mesh as lit_mesh_scene
from gallette.scenes.common import (
    COMMON,
    benchmark,
    gl_matrix,
    look_at,
    perspective,
    shaders,
    sphere,
    torus,
    upload,
)
from gallette.state_tracker.entry_points.enums import GL

GLSL = shaders(__file__)

Draw = Callable[[], None]


def _lit(ctx: Any, size: tuple[int, int], fragment: str = lit_mesh_scene.GLSL["fragment"]) -> Any:
    """The lit mesh's program with its uniforms set."""
    program = ctx.program(lit_mesh_scene.GLSL["vertex"], fragment)
    eye = (1.0, 1.2, 1.3)
    matrix = perspective(45, size[0] / size[1], 0.1, 10) @ look_at(eye)
    program["matrix"].write(gl_matrix(matrix))
    if "lamp" in program:
        program["lamp"].value = (2.0, 3.0, 1.0)
        program["eye"].value = eye
    return program


@benchmark("tiny_triangles")
def tiny_triangles(ctx: Any, size: tuple[int, int]) -> Draw:
    """500,000 indexed triangles of about half a pixel, depth-tested"""
    program = ctx.program(COMMON["positions"], GLSL["tiny_triangles.fragment"])
    n = round(500 * max(size) / 512)  # in a larger picture there are more, not larger ones
    y, x = np.meshgrid(np.linspace(-1, 1, n + 1), np.linspace(-1, 1, n + 1), indexing="ij")
    grid = np.stack((x, y, 0.3 * np.sin(x * 9) * np.cos(y * 9)), -1)
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).reshape(-1)
    indices = np.stack((a, a + 1, a + n + 1, a + n + 1, a + 1, a + n + 2), -1)
    vertices = ctx.buffer(grid.astype(np.float32).tobytes())
    elements = ctx.buffer(indices.astype(np.uint32).tobytes())
    mesh = ctx.vertex_array(program, [(vertices, "3f", "position")], elements)

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        mesh.render(ctx.TRIANGLES)

    return draw


@benchmark("msaa_mesh", samples=4)
def msaa_mesh(ctx: Any, size: tuple[int, int]) -> Draw:
    """the lit torus with four samples per pixel, resolved"""
    program = _lit(ctx, size)
    mesh = upload(ctx, program, "3f 3f 2f", torus(128, 64), "position normal uv", ctx.TRIANGLES)
    screen = ctx.fbo
    samples = ctx.framebuffer(
        [ctx.renderbuffer(size, 4, samples=4)], ctx.depth_renderbuffer(size, samples=4)
    )

    def draw() -> None:
        samples.use()
        samples.clear()
        ctx.enable(ctx.DEPTH_TEST)
        mesh.render()
        ctx.copy_framebuffer(screen, samples)

    return draw


@benchmark("depth_equal")
def depth_equal(ctx: Any, size: tuple[int, int]) -> Draw:
    """five tori: depth alone first, then lit where the depth is equal"""
    program = _lit(ctx, size)
    rings = [torus(64, 32, 0.2 + 0.15 * k, 0.07) for k in range(5)]
    mesh = upload(
        ctx, program, "3f 3f 2f", np.concatenate(rings), "position normal uv", ctx.TRIANGLES
    )
    screen = ctx.fbo

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        screen.color_mask = (False,) * 4
        mesh.render()
        screen.color_mask = (True,) * 4
        ctx.depth_func = "=="
        mesh.render()
        ctx.depth_func = "<"

    return draw


@benchmark("stencil_masks")
def stencil_masks(ctx: Any, size: tuple[int, int]) -> Draw:
    """twelve times: a shape into the stencil buffer, then a torus only inside it"""
    lit, flat = _lit(ctx, size), _lit(ctx, size, GLSL["flat"])
    mesh = upload(ctx, lit, "3f 3f 2f", torus(64, 32), "position normal uv", ctx.TRIANGLES)
    shapes = []
    for k in range(12):
        ball = sphere(16, 8, 0.25)
        ball[:, 0] += 0.7 * np.cos(k * 0.52)
        ball[:, 2] += 0.7 * np.sin(k * 0.52)
        shapes.append(upload(ctx, flat, "3f 3f 2f", ball, "position normal uv", ctx.TRIANGLES))
    gl = ctx.extra  # moderngl knows no stencil test
    (buffer,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.DEPTH24_STENCIL8, *size)
    gl.bind_framebuffer(GL.FRAMEBUFFER, ctx.fbo.glo)
    gl.framebuffer_renderbuffer(
        GL.FRAMEBUFFER, GL.DEPTH_STENCIL_ATTACHMENT, GL.RENDERBUFFER, buffer
    )

    def draw() -> None:
        gl.clear(GL.STENCIL_BUFFER_BIT)
        gl.enable(GL.STENCIL_TEST)
        for k, shape in enumerate(shapes, 1):
            gl.stencil_func(GL.ALWAYS, k, 255)
            gl.stencil_op(GL.KEEP, GL.KEEP, GL.REPLACE)
            flat["paint"].value = (k / 12, 0.4, 1 - k / 12)
            shape.render()
            gl.stencil_func(GL.EQUAL, k, 255)
            gl.stencil_op(GL.KEEP, GL.KEEP, GL.KEEP)
            mesh.render()
        gl.disable(GL.STENCIL_TEST)

    return draw
