"""moderngl with its own EGL backend, no gallette object in sight."""

import sys

import moderngl
from PIL import Image

ctx = moderngl.create_context(standalone=True, backend="egl")
program = ctx.program(
    vertex_shader="""
        #version 330
        in vec2 place; in vec3 color; out vec3 shade;
        void main() { gl_Position = vec4(place, 0.0, 1.0); shade = color; }
    """,
    fragment_shader="""
        #version 330
        in vec3 shade; out vec4 result;
        void main() { result = vec4(shade, 1.0); }
    """,
)
import struct  # noqa: E402

corners = [(-0.8, -0.8, 1, 0, 0), (0.8, -0.8, 0, 1, 0), (0.0, 0.8, 0, 0, 1)]
buffer = ctx.buffer(b"".join(struct.pack("5f", *c) for c in corners))
target = ctx.simple_framebuffer((64, 64))
target.use()
target.clear(0.1, 0.1, 0.2, 1.0)
ctx.vertex_array(program, [(buffer, "2f 3f", "place", "color")]).render()
assert ctx.error == "GL_NO_ERROR"
Image.frombytes("RGBA", (64, 64), target.read(components=4)).save(sys.argv[1])
