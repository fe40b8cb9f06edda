"""Drawings with moderngl: each function draws on the framebuffer that is bound."""

import math
import struct

import moderngl

FLAT = """
    #version 330
    in vec2 position;
    in vec4 color;
    out vec4 shade;
    void main() { gl_Position = vec4(position, 0.0, 1.0); shade = color; }
"""
SHADED = """
    #version 330
    in vec4 shade;
    out vec4 color;
    void main() { color = shade; }
"""
FULL_SCREEN = """
    #version 330
    out vec2 at;
    void main() {
        at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0;
        gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);
    }
"""


def full_screen(ctx, fragment_shader):
    """A program that shades every pixel, and how to draw with it."""
    program = ctx.program(vertex_shader=FULL_SCREEN, fragment_shader=fragment_shader)
    return program, ctx.vertex_array(program, [])


def polygon(ctx, corners, color, mode=moderngl.TRIANGLE_FAN):
    program = ctx.program(vertex_shader=FLAT, fragment_shader=SHADED)
    data = b"".join(struct.pack("6f", *corner, *color) for corner in corners)
    array = ctx.vertex_array(program, [(ctx.buffer(data), "2f 4f", "position", "color")])
    array.render(mode)


def circle(x, y, radius, parts=24):
    angles = [2 * math.pi * i / parts for i in range(parts)]
    return [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]


def triangle(ctx):
    ctx.clear(0.1, 0.1, 0.1)
    program = ctx.program(vertex_shader=FLAT, fragment_shader=SHADED)
    data = struct.pack("18f", -0.8, -0.8, 1, 0, 0, 1, 0.8, -0.8, 0, 1, 0, 1, 0.0, 0.8, 0, 0, 1, 1)
    ctx.vertex_array(program, [(ctx.buffer(data), "2f 4f", "position", "color")]).render()


def gradient(ctx):
    _, screen = full_screen(
        ctx,
        """
        #version 330
        in vec2 at;
        out vec4 color;
        void main() { color = vec4(at, 0.5, 1.0); }
        """,
    )
    screen.render(vertices=3)


def rings(ctx, frequency=20.0):
    program, screen = full_screen(
        ctx,
        """
        #version 330
        uniform float frequency;
        in vec2 at;
        out vec4 color;
        void main() {
            float wave = sin(frequency * distance(at, vec2(0.5)));
            color = vec4(vec3(0.5 + 0.5 * wave), 1.0);
        }
        """,
    )
    program["frequency"].value = frequency
    screen.render(vertices=3)


def blended(ctx):
    ctx.clear(1.0, 1.0, 1.0)
    ctx.enable(moderngl.BLEND)
    ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
    polygon(ctx, circle(-0.25, -0.2, 0.6), (1.0, 0.0, 0.0, 0.5))
    polygon(ctx, circle(0.25, -0.2, 0.6), (0.0, 1.0, 0.0, 0.5))
    polygon(ctx, circle(0.0, 0.3, 0.6), (0.0, 0.0, 1.0, 0.5))


def checker(ctx, filter=moderngl.NEAREST):
    texture = ctx.texture((2, 2), 3, bytes([255, 255, 255, 40, 40, 90, 40, 40, 90, 255, 255, 255]),
                          alignment=1)  # fmt: skip
    texture.filter = filter, filter
    texture.use()
    _, screen = full_screen(
        ctx,
        """
        #version 330
        uniform sampler2D squares;
        in vec2 at;
        out vec4 color;
        void main() { color = texture(squares, at * 3.0); }
        """,
    )
    screen.render(vertices=3)


def depth(ctx):
    """Two triangles through one another."""
    ctx.clear(0.0, 0.0, 0.2)
    ctx.enable(moderngl.DEPTH_TEST)
    program = ctx.program(
        vertex_shader="""
            #version 330
            in vec3 position;
            in vec3 color;
            out vec4 shade;
            void main() { gl_Position = vec4(position, 1.0); shade = vec4(color, 1.0); }
        """,
        fragment_shader=SHADED,
    )
    corners = [
        (-0.9, -0.6, 0.5, 1, 0.8, 0), (0.9, -0.6, -0.5, 1, 0.8, 0), (0.0, 0.7, 0.0, 1, 0.8, 0),
        (-0.9, 0.6, -0.5, 0, 0.6, 1), (0.9, 0.6, 0.5, 0, 0.6, 1), (0.0, -0.7, 0.0, 0, 0.6, 1),
    ]  # fmt: skip
    data = b"".join(struct.pack("6f", *corner) for corner in corners)
    ctx.vertex_array(program, [(ctx.buffer(data), "3f 3f", "position", "color")]).render()


def instances(ctx):
    ctx.clear()
    program = ctx.program(
        vertex_shader="""
            #version 330
            in vec2 corner;
            in vec2 place;
            in vec3 tint;
            out vec4 shade;
            void main() { gl_Position = vec4(0.15 * corner + place, 0, 1); shade = vec4(tint, 1); }
        """,
        fragment_shader=SHADED,
    )
    square = ctx.buffer(struct.pack("8f", -1, -1, 1, -1, -1, 1, 1, 1))
    each = b"".join(
        struct.pack("5f", x / 2, y / 2, 0.5 + x / 4, 0.5 + y / 4, 0.5)
        for x in (-1, 0, 1)
        for y in (-1, 0, 1)
    )
    content = [(square, "2f", "corner"), (ctx.buffer(each), "2f 3f/i", "place", "tint")]
    ctx.vertex_array(program, content).render(moderngl.TRIANGLE_STRIP, instances=9)


def clipped(ctx):
    """A scissor box with another colour."""
    ctx.clear(0.2, 0.4, 0.2)
    ctx.scissor = 16, 8, 32, 48
    ctx.clear(0.9, 0.9, 0.2)
    ctx.scissor = None


def glow(ctx):
    """A picture of floats is drawn first, then brought to bytes by a second pass."""
    width, height = ctx.fbo.size
    screen = ctx.fbo
    light = ctx.texture((width, height), 4, dtype="f2")
    ctx.framebuffer([light]).use()
    _, first = full_screen(
        ctx,
        """
        #version 330
        in vec2 at;
        out vec4 color;
        void main() {
            float distance = dot(at - 0.5, at - 0.5);
            color = vec4(vec3(4.0, 2.0, 1.0) / (1.0 + 80.0 * distance), 1.0);
        }
        """,
    )
    first.render(vertices=3)
    screen.use()
    light.use()
    _, second = full_screen(
        ctx,
        """
        #version 330
        uniform sampler2D light;
        in vec2 at;
        out vec4 color;
        void main() {
            vec3 found = texture(light, at).rgb;
            color = vec4(found / (1.0 + found), 1.0);
        }
        """,
    )
    second.render(vertices=3)


def smooth_edges(ctx):
    """Four samples a pixel, resolved."""
    target = ctx.fbo
    samples = ctx.simple_framebuffer(target.size, samples=4)
    samples.use()
    ctx.clear(0.0, 0.0, 0.0)
    polygon(ctx, circle(0.0, 0.0, 0.8, 7), (1.0, 0.6, 0.2, 1.0))
    ctx.copy_framebuffer(target, samples)
    target.use()


def histogram(ctx, data):
    """Counts on the GPU: how many of the bytes are in each of four ranges."""
    program = ctx.compute_shader(
        """
        #version 430
        layout(local_size_x = 16) in;
        layout(std430, binding = 0) buffer Numbers { uint numbers[]; };
        layout(std430, binding = 1) buffer Counts { uint counts[4]; };
        void main() { atomicAdd(counts[numbers[gl_GlobalInvocationID.x] / 64u], 1u); }
        """
    )
    numbers = ctx.buffer(struct.pack(f"{len(data)}I", *data))
    counts = ctx.buffer(bytes(16))
    numbers.bind_to_storage_buffer(0)
    counts.bind_to_storage_buffer(1)
    program.run(len(data) // 16)
    return struct.unpack("4I", counts.read())
