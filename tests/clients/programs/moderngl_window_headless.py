"""moderngl-window's headless window: a shaded cube turning a little."""

import sys

import moderngl
import moderngl_window
from moderngl_window import geometry
from moderngl_window.conf import settings
from PIL import Image

settings.WINDOW["class"] = "moderngl_window.context.headless.Window"
settings.WINDOW["gl_version"] = (3, 3)
settings.WINDOW["size"] = (80, 80)
settings.WINDOW["samples"] = 0
settings.WINDOW["backend"] = "egl"
window = moderngl_window.create_window_from_settings()
ctx = window.ctx
program = ctx.program(
    vertex_shader="""
        #version 330
        in vec3 in_position; in vec3 in_normal; out vec3 normal;
        void main() {
            mat3 turn = mat3(0.8, 0.3, -0.52, 0.0, 0.87, 0.5, 0.6, -0.4, 0.69);
            normal = turn * in_normal;
            gl_Position = vec4(turn * in_position * 0.5, 1.0);
        }
    """,
    fragment_shader="""
        #version 330
        in vec3 normal; out vec4 color;
        void main() { color = vec4(normal * 0.5 + 0.5, 1.0); }
    """,
)
window.use()
ctx.enable(moderngl.DEPTH_TEST)
window.clear(0.1, 0.1, 0.1, 1.0)
geometry.cube(size=(1.2, 1.2, 1.2)).render(program)
Image.frombytes("RGB", (80, 80), window.fbo.read(components=3)).save(sys.argv[1])
