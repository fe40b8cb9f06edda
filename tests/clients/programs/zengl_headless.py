"""zengl with a loader of its own for headless EGL."""

import sys

import glcontext
import zengl
from PIL import Image

zengl.init(glcontext.get_backend_by_name("egl")(mode="standalone", glversion=330))
ctx = zengl.context()
image = ctx.image((96, 96), "rgba8unorm", texture=False)
pipeline = ctx.pipeline(
    vertex_shader="""
        #version 330 core
        vec2 corner[3] = vec2[](vec2(-0.9, -0.9), vec2(0.9, -0.9), vec2(0.0, 0.9));
        out vec2 place;
        void main() { place = corner[gl_VertexID]; gl_Position = vec4(place, 0.0, 1.0); }
    """,
    fragment_shader="""
        #version 330 core
        in vec2 place;
        layout (location = 0) out vec4 color;
        void main() { color = vec4(place * 0.5 + 0.5, 0.3, 1.0); }
    """,
    framebuffer=[image],
    topology="triangles",
    vertex_count=3,
)
ctx.new_frame()
image.clear()
pipeline.render()
ctx.end_frame()
Image.frombytes("RGBA", (96, 96), image.read()).save(sys.argv[1])
