"""Markers and a line of vispy, drawn into a framebuffer of its own on an EGL context."""

import sys

import numpy as np
import vispy
from PIL import Image

vispy.use(app="egl")
from vispy import app, gloo  # noqa: E402

VERTEX = """
attribute vec2 a_place; attribute vec3 a_color; attribute float a_size; varying vec3 v_color;
void main() { gl_Position = vec4(a_place, 0.0, 1.0); gl_PointSize = a_size; v_color = a_color; }
"""
FRAGMENT = """
varying vec3 v_color;
void main() {
    float r = length(gl_PointCoord - 0.5);
    if (r > 0.5) discard;
    gl_FragColor = vec4(v_color * (1.0 - r), 1.0);
}
"""
canvas = app.Canvas(size=(160, 120), show=False)
canvas.set_current()
angle = np.linspace(0, 6.2, 24, dtype=np.float32)
program = gloo.Program(VERTEX, FRAGMENT)
program["a_place"] = np.stack([np.cos(angle) * 0.8, np.sin(angle) * 0.7], axis=1)
program["a_color"] = np.stack([angle / 6.2, 1 - angle / 6.2, np.full_like(angle, 0.5)], axis=1)
program["a_size"] = (6 + angle * 2).astype(np.float32)
target = gloo.FrameBuffer(color=gloo.RenderBuffer((120, 160), "color"))
with target:
    gloo.set_viewport(0, 0, 160, 120)
    gloo.set_state(blend=False, depth_test=False)
    gloo.clear((0.1, 0.1, 0.2, 1.0))
    program.draw("points")
    picture = gloo.read_pixels((0, 0, 160, 120))
Image.fromarray(np.ascontiguousarray(picture)).save(sys.argv[1])
