"""Benchmarks made like frames of programs: foliage, shadows, effects, instances, text, lights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.benchmarks.registry import benchmark
from gallette.scenes.common import (
    Array,
    gl_matrix,
    look_at,
    perspective,
    plane,
    quad,
    sphere,
    torus,
    upload,
)

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
SQUARE = np.array([[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]], np.float32)


def _camera(size: tuple[int, int], eye: tuple[float, ...], at: tuple[float, ...]) -> Array:
    return perspective(60, size[0] / size[1], 0.1, 50) @ look_at(eye, at)


@benchmark("foliage")
def foliage(ctx: Any, size: tuple[int, int]) -> Draw:
    """3,000 instances of a leaf whose texture is cut out by its alpha, depth-tested"""
    program = ctx.program(
        """
        #version 330
        in vec2 corner;
        in vec4 place;
        uniform mat4 matrix;
        out vec2 uv;
        out float shade;
        void main() {
            vec2 turned = vec2(cos(place.w), sin(place.w)) * (corner.x - 0.5);
            vec3 at = place.xyz + vec3(turned.x, corner.y, turned.y) * 0.5;
            gl_Position = matrix * vec4(at, 1.0);
            uv = corner;
            shade = 0.5 + 0.5 * fract(place.w);
        }
        """,
        """
        #version 330
        uniform sampler2D leaf;
        in vec2 uv;
        in float shade;
        out vec4 color;
        void main() {
            vec4 texel = texture(leaf, uv);
            if (texel.a < 0.5)
                discard;
            color = vec4(texel.rgb * shade, 1.0);
        }
        """,
    )
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
    vertex = """
    #version 330
    in vec3 position;
    in vec3 normal;
    uniform mat4 matrix;
    uniform mat4 lamp;
    out vec3 n;
    out vec4 seen;
    void main() {
        gl_Position = matrix * vec4(position, 1.0);
        n = normal;
        seen = lamp * vec4(position, 1.0);
    }
    """
    depth_only = ctx.program(vertex, "#version 330\nvoid main() {}\n")
    lit = ctx.program(
        vertex,
        """
        #version 330
        uniform sampler2DShadow shadows;
        in vec3 n;
        in vec4 seen;
        out vec4 color;
        void main() {
            vec3 at = seen.xyz / seen.w * 0.5 + 0.5;
            float light = 0.0;
            for (int y = -1; y <= 1; y++)
                for (int x = -1; x <= 1; x++)
                    light += texture(shadows, at + vec3(vec2(x, y) / 1024.0, -0.002));
            float facing = max(dot(normalize(n), normalize(vec3(1.0, 2.0, 1.0))), 0.0);
            color = vec4(vec3(0.8, 0.7, 0.5) * (0.2 + 0.8 * facing * light / 9.0), 1.0);
        }
        """,
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
    make = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        in vec2 uv;
        out vec4 color;
        void main() {
            vec2 cell = fract(uv * 8.0) - 0.5;
            color = vec4(vec3(uv, 0.5) * (0.1 / (dot(cell, cell) + 0.02)), 1.0);
        }
        """,
    )
    bright = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        uniform sampler2D image;
        in vec2 uv;
        out vec4 color;
        void main() {
            vec3 c = texture(image, uv).rgb;
            color = vec4(max(c - 1.0, vec3(0.0)), 1.0);
        }
        """,
    )
    blur = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        uniform sampler2D image;
        uniform vec2 step;
        in vec2 uv;
        out vec4 color;
        const float weights[5] = float[](0.227027, 0.194594, 0.121621, 0.054054, 0.016216);
        void main() {
            vec3 sum = texture(image, uv).rgb * weights[0];
            for (int i = 1; i < 5; i++) {
                sum += texture(image, uv + step * float(i)).rgb * weights[i];
                sum += texture(image, uv - step * float(i)).rgb * weights[i];
            }
            color = vec4(sum, 1.0);
        }
        """,
    )
    mix = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        uniform sampler2D image;
        uniform sampler2D glow;
        in vec2 uv;
        out vec4 color;
        void main() {
            vec3 c = texture(image, uv).rgb + texture(glow, uv).rgb;
            color = vec4(pow(c / (1.0 + c), vec3(1.0 / 2.2)), 1.0);
        }
        """,
    )
    mix["glow"].value = 1
    screen = ctx.fbo
    pictures = [ctx.texture(size, 4, dtype="f2"), *(ctx.texture(half, 4, dtype="f2") for _ in "ab")]
    for picture in pictures:
        picture.filter = ctx.LINEAR, ctx.LINEAR
        picture.repeat_x = picture.repeat_y = False
    whole, one, two = (ctx.framebuffer([picture]) for picture in pictures)
    arrays = {
        program: upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
        for program in (make, bright, blur, mix)
    }

    def draw() -> None:
        whole.use()
        arrays[make].render()
        one.use()
        pictures[0].use(0)
        arrays[bright].render()
        for target, source, step in ((two, 1, (1 / half[0], 0)), (one, 2, (0, 1 / half[1]))):
            target.use()
            pictures[source].use(0)
            blur["step"].value = step
            arrays[blur].render()
        screen.use()
        pictures[0].use(0)
        pictures[1].use(1)
        arrays[mix].render()

    return draw


@benchmark("instances")
def instances(ctx: Any, size: tuple[int, int]) -> Draw:
    """64 instances of a mesh, placed by matrices of a uniform block, textured"""
    program = ctx.program(
        """
        #version 330
        in vec3 position;
        in vec3 normal;
        in vec2 uv;
        uniform mat4 matrix;
        layout(std140) uniform Places { mat4 places[64]; };
        out vec3 n;
        out vec2 at;
        void main() {
            mat4 place = places[gl_InstanceID];
            gl_Position = matrix * (place * vec4(position, 1.0));
            n = mat3(place) * normal;
            at = uv * 4.0;
        }
        """,
        """
        #version 330
        uniform sampler2D image;
        in vec3 n;
        in vec2 at;
        out vec4 color;
        void main() {
            float light = 0.3 + 0.7 * max(dot(normalize(n), vec3(0.6, 0.64, 0.48)), 0.0);
            color = vec4(texture(image, at).rgb * light, 1.0);
        }
        """,
    )
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
    program = ctx.program(
        """
        #version 330
        in vec2 position;
        in vec2 uv;
        in vec4 paint;
        uniform vec2 scale;
        out vec2 at;
        out vec4 ink;
        void main() {
            gl_Position = vec4(position * scale - 1.0, 0.0, 1.0);
            at = uv;
            ink = paint;
        }
        """,
        """
        #version 330
        uniform sampler2D glyphs;
        in vec2 at;
        in vec4 ink;
        out vec4 color;
        void main() {
            color = vec4(ink.rgb, ink.a * texture(glyphs, at).r);
        }
        """,
    )
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
    fill = ctx.program(
        """
        #version 330
        in vec3 position;
        in vec3 normal;
        uniform mat4 matrix;
        out vec3 n;
        out vec3 p;
        void main() {
            gl_Position = matrix * vec4(position, 1.0);
            n = normal;
            p = position;
        }
        """,
        """
        #version 330
        in vec3 n;
        in vec3 p;
        layout(location = 0) out vec4 albedo;
        layout(location = 1) out vec4 normal;
        layout(location = 2) out vec4 place;
        void main() {
            albedo = vec4(fract(p * 3.0), 1.0);
            normal = vec4(normalize(n), 1.0);
            place = vec4(p, 1.0);
        }
        """,
    )
    light = ctx.program(
        FULL_SCREEN,
        """
        #version 330
        uniform sampler2D albedo;
        uniform sampler2D normal;
        uniform sampler2D place;
        uniform vec3 lamp;
        uniform vec3 paint;
        out vec4 color;
        void main() {
            ivec2 at = ivec2(gl_FragCoord.xy);
            vec3 to = lamp - texelFetch(place, at, 0).xyz;
            float d = dot(to, to);
            float facing = max(dot(texelFetch(normal, at, 0).xyz, to * inversesqrt(d)), 0.0);
            color = vec4(texelFetch(albedo, at, 0).rgb * paint * facing / (1.0 + 4.0 * d), 1.0);
        }
        """,
    )
    for unit, name in enumerate(("albedo", "normal", "place")):
        light[name].value = unit
    screen = ctx.fbo
    targets = [ctx.texture(size, 4), *(ctx.texture(size, 4, dtype="f2") for _ in "np")]
    buffers = ctx.framebuffer(targets, ctx.depth_renderbuffer(size))
    fill["matrix"].write(gl_matrix(_camera(size, (0, 1.5, 2), (0, 0, 0))))
    data = np.concatenate((torus(48, 24), sphere(24, 12, 0.4), plane(2.0, -0.4)))
    mesh = upload(ctx, fill, "3f 3f 2f", data, "position normal uv", ctx.TRIANGLES)
    screen_quad = upload(ctx, light, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
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
