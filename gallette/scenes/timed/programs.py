"""Benchmarks made like frames of programs: foliage, shadows, effects, instances, text, lights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Array,
    benchmark,
    gl_matrix,
    look_at,
    perspective,
    plane,
    screen_filler,
    shaders,
    sphere,
    torus,
    upload,
)

GLSL = shaders(__file__)

Draw = Callable[[], None]

SQUARE = np.array([[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]], np.float32)


def _camera(size: tuple[int, int], eye: tuple[float, ...], at: tuple[float, ...]) -> Array:
    return perspective(60, size[0] / size[1], 0.1, 50) @ look_at(eye, at)


@benchmark("foliage")
def foliage(ctx: Any, size: tuple[int, int]) -> Draw:
    """3,000 instances of a leaf whose texture is cut out by its alpha, depth-tested"""
    program = ctx.program(GLSL["foliage.vertex"], GLSL["foliage.fragment"])
    random = np.random.default_rng(6)
    picture = random.integers(0, 256, (64, 64, 4), dtype=np.uint8)
    y, x = np.mgrid[-1:1:64j, -1:1:64j]
    picture[..., 3] = 255 * (np.hypot(x, y) + 0.3 * np.sin(8 * np.arctan2(y, x)) < 0.8)
    leaf = ctx.texture((64, 64), 4, picture.tobytes())
    leaf.build_mipmaps()
    leaf.filter = ctx.LINEAR_MIPMAP_LINEAR, ctx.LINEAR
    places = random.uniform((-5, -0.5, -9, 0), (5, 0.5, -1, 6.3), (3000, 4)).astype(np.float32)
    program["matrix"].write(gl_matrix(_camera(size, (0, 1, 1), (0, 0, -4))))
    array = ctx.vertex_array(
        program,
        [
            (ctx.buffer(SQUARE.tobytes()), "2f", "corner"),
            (ctx.buffer(places.tobytes()), "4f/i", "place"),
        ],
    )

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        leaf.use(0)
        array.render(ctx.TRIANGLES, instances=len(places))

    return draw


@benchmark("soft_shadows")
def soft_shadows(ctx: Any, size: tuple[int, int]) -> Draw:
    """a torus and its floor: a depth map of 1024 x 1024, then nine compared taps per pixel"""
    vertex = GLSL["soft_shadows.vertex"]
    depth_only = ctx.program(vertex, "#version 330\nvoid main() {}\n")
    lit = ctx.program(
        vertex,
        GLSL["soft_shadows.lit"],
    )
    screen = ctx.fbo
    depth = ctx.depth_texture((1024, 1024))
    depth.compare_func = "<="
    depth.filter = ctx.LINEAR, ctx.LINEAR
    shadow = ctx.framebuffer(depth_attachment=depth)
    lamp = perspective(60, 1, 0.5, 10) @ look_at((2, 4, 2))
    lit["matrix"].write(gl_matrix(_camera(size, (0, 2, 3), (0, 0, 0))))
    lit["lamp"].write(gl_matrix(lamp))
    depth_only["matrix"].write(gl_matrix(lamp))
    data = np.concatenate((torus(64, 32), plane(2.0, -0.5)))
    caster = upload(ctx, depth_only, "3f 3f 2f", data, "position normal uv", ctx.TRIANGLES)
    receiver = upload(ctx, lit, "3f 3f 2f", data, "position normal uv", ctx.TRIANGLES)

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        shadow.use()
        shadow.clear()
        caster.render()
        screen.use()
        depth.use(0)
        receiver.render()

    return draw


@benchmark("effects")
def effects(ctx: Any, size: tuple[int, int]) -> Draw:
    """a picture in half floats, its bright parts blurred twice at half size, both put together"""
    half = size[0] // 2, size[1] // 2
    _, made = screen_filler(ctx, GLSL["effects.make"])
    _, bright = screen_filler(ctx, GLSL["effects.bright"])
    blur, blurred = screen_filler(ctx, GLSL["effects.blur"])
    mix, mixed = screen_filler(ctx, GLSL["effects.mix"])
    mix["glow"].value = 1
    screen = ctx.fbo
    pictures = [ctx.texture(size, 4, dtype="f2"), *(ctx.texture(half, 4, dtype="f2") for _ in "ab")]
    for picture in pictures:
        picture.filter = ctx.LINEAR, ctx.LINEAR
        picture.repeat_x = picture.repeat_y = False
    whole, one, two = (ctx.framebuffer([picture]) for picture in pictures)

    def draw() -> None:
        whole.use()
        made.render()
        one.use()
        pictures[0].use(0)
        bright.render()
        for target, source, step in ((two, 1, (1 / half[0], 0)), (one, 2, (0, 1 / half[1]))):
            target.use()
            pictures[source].use(0)
            blur["step"].value = step
            blurred.render()
        screen.use()
        pictures[0].use(0)
        pictures[1].use(1)
        mixed.render()

    return draw


@benchmark("instances")
def instances(ctx: Any, size: tuple[int, int]) -> Draw:
    """64 instances of a mesh, placed by matrices of a uniform block, textured"""
    program = ctx.program(GLSL["instances.vertex"], GLSL["instances.fragment"])
    random = np.random.default_rng(7)
    picture = random.integers(0, 256, (128, 128, 4), dtype=np.uint8)
    image = ctx.texture((128, 128), 4, picture.tobytes())
    image.build_mipmaps()
    image.filter = ctx.LINEAR_MIPMAP_LINEAR, ctx.LINEAR
    places = np.tile(np.eye(4, dtype=np.float32), (64, 1, 1))
    for k, place in enumerate(places):
        angle = k * 0.7
        place[0, 0], place[0, 2] = np.cos(angle), np.sin(angle)
        place[2, 0], place[2, 2] = -np.sin(angle), np.cos(angle)
        place[:3, 3] = k % 8 * 2 - 7, 0, k // 8 * -2 - 1
    block = ctx.buffer(np.ascontiguousarray(places.transpose(0, 2, 1)).tobytes())
    program["Places"].binding = 0
    program["matrix"].write(gl_matrix(_camera(size, (0, 4, 3), (0, 0, -5))))
    mesh = upload(ctx, program, "3f 3f 2f", torus(24, 12), "position normal uv", ctx.TRIANGLES)

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST | ctx.CULL_FACE)
        block.bind_to_uniform_block(0)
        image.use(0)
        mesh.render(instances=64)
        ctx.disable(ctx.CULL_FACE)

    return draw


@benchmark("text")
def text(ctx: Any, size: tuple[int, int]) -> Draw:
    """2,400 letters as blended quads: glyphs and vertices are uploaded anew in every frame"""
    program = ctx.program(GLSL["text.vertex"], GLSL["text.fragment"])
    random = np.random.default_rng(8)
    atlas = random.integers(0, 256, (16, 128, 16), dtype=np.uint8)
    glyphs = ctx.texture((128, 256), 1)
    glyphs.filter = ctx.LINEAR, ctx.LINEAR
    columns, rows = 60, 40
    letter = np.arange(columns * rows)
    places = np.stack((letter % columns * 8.4 + 2, letter // columns * 12.5 + 4), -1)[:, None]
    vertices = np.zeros((columns * rows, 6, 8), np.float32)
    vertices[..., :2] = places + SQUARE * (10, 14)
    vertices[..., 4:] = random.uniform(0.3, 1, (columns * rows, 1, 4))
    buffer = ctx.buffer(reserve=vertices.nbytes)
    program["scale"].value = 2 / size[0], 2 / size[1]
    array = ctx.vertex_array(program, [(buffer, "2f 2f 4f", "position", "uv", "paint")])
    turn = [0]

    def draw() -> None:
        turn[0] += 1
        shown = (letter + turn[0]) % 128
        corner = np.stack((shown % 8 / 8, shown // 8 / 16), -1)[:, None]
        vertices[..., 2:4] = corner + SQUARE * (1 / 8, 1 / 16)
        for row in range(16):
            glyphs.write(atlas[row].tobytes(), (0, row * 16, 128, 16))
        buffer.orphan()
        buffer.write(vertices)
        ctx.enable(ctx.BLEND)
        ctx.blend_func = ctx.SRC_ALPHA, ctx.ONE_MINUS_SRC_ALPHA
        glyphs.use(0)
        array.render(ctx.TRIANGLES)
        ctx.disable(ctx.BLEND)

    return draw


@benchmark("deferred_lights")
def deferred_lights(ctx: Any, size: tuple[int, int]) -> Draw:
    """a mesh into colour, normal and depth, then 24 lights added, each inside its scissor"""
    fill = ctx.program(GLSL["deferred_lights.fill_vertex"], GLSL["deferred_lights.fill_fragment"])
    light, screen_quad = screen_filler(ctx, GLSL["deferred_lights.light"])
    for unit, name in enumerate(("albedo", "normal", "place")):
        light[name].value = unit
    screen = ctx.fbo
    targets = [ctx.texture(size, 4), *(ctx.texture(size, 4, dtype="f2") for _ in "np")]
    buffers = ctx.framebuffer(targets, ctx.depth_renderbuffer(size))
    fill["matrix"].write(gl_matrix(_camera(size, (0, 1.5, 2), (0, 0, 0))))
    data = np.concatenate((torus(48, 24), sphere(24, 12, 0.4), plane(2.0, -0.4)))
    mesh = upload(ctx, fill, "3f 3f 2f", data, "position normal uv", ctx.TRIANGLES)
    random = np.random.default_rng(9)
    lamps = [tuple(map(float, row)) for row in random.uniform(-1, 1, (24, 3))]
    paints = [tuple(map(float, row)) for row in random.uniform(0.2, 1, (24, 3))]
    side = size[0] // 3

    def draw() -> None:
        buffers.use()
        buffers.clear()
        ctx.enable(ctx.DEPTH_TEST)
        mesh.render()
        ctx.disable(ctx.DEPTH_TEST)
        screen.use()
        ctx.enable(ctx.BLEND)
        ctx.blend_func = ctx.ONE, ctx.ONE
        for unit, target in enumerate(targets):
            target.use(unit)
        for k, (lamp, paint) in enumerate(zip(lamps, paints, strict=True)):
            screen.scissor = k % 6 * side // 3, k // 6 * side // 2, side, side
            light["lamp"].value = lamp
            light["paint"].value = paint
            screen_quad.render()
        screen.scissor = None
        ctx.disable(ctx.BLEND)

    return draw
