"""glumpy: its programs, buffers and textures on a pbuffer; round points, indexed lines."""

import sys

import numpy as np
from OpenGL import EGL
from PIL import Image

SIZE = 128
display = EGL.eglGetDisplay(EGL.EGL_DEFAULT_DISPLAY)
assert EGL.eglInitialize(display, EGL.EGLint(), EGL.EGLint())
wanted = [EGL.EGL_SURFACE_TYPE, EGL.EGL_PBUFFER_BIT, EGL.EGL_BLUE_SIZE, 8, EGL.EGL_DEPTH_SIZE, 24,
          EGL.EGL_RENDERABLE_TYPE, EGL.EGL_OPENGL_BIT, EGL.EGL_NONE]  # fmt: skip
configs, count = (EGL.EGLConfig * 1)(), EGL.EGLint()
assert EGL.eglChooseConfig(display, (EGL.EGLint * len(wanted))(*wanted), configs, 1, count)
size = (EGL.EGLint * 5)(EGL.EGL_WIDTH, SIZE, EGL.EGL_HEIGHT, SIZE, EGL.EGL_NONE)
surface = EGL.eglCreatePbufferSurface(display, configs[0], size)
EGL.eglBindAPI(EGL.EGL_OPENGL_API)
context = EGL.eglCreateContext(display, configs[0], EGL.EGL_NO_CONTEXT, None)
assert EGL.eglMakeCurrent(display, surface, surface, context)

from glumpy import gl, glm, gloo  # noqa: E402  (it looks for the current context)

gl.glClearColor(0.9, 0.9, 1.0, 1.0)
gl.glClear(gl.GL_COLOR_BUFFER_BIT | gl.GL_DEPTH_BUFFER_BIT)

# A texture on a quad that is turned.
quad = gloo.Program(
    """uniform mat4 model; attribute vec2 position, texcoord; varying vec2 place;
    void main() { place = texcoord; gl_Position = model * vec4(position, 0.0, 1.0); }""",
    """uniform sampler2D image; varying vec2 place;
    void main() { gl_FragColor = texture2D(image, place); }""",
    count=4,
)
quad["position"] = [(-0.8, -0.8), (-0.8, 0.8), (0.8, -0.8), (0.8, 0.8)]
quad["texcoord"] = [(0, 0), (0, 1), (1, 0), (1, 1)]
y, x = np.mgrid[0:16, 0:16]
quad["image"] = np.stack([x * 16, y * 16, (x ^ y) * 16], -1).astype(np.uint8)
quad["image"].interpolation = gl.GL_LINEAR
model = np.eye(4, dtype=np.float32)
glm.rotate(model, 20, 0, 0, 1)
quad["model"] = model
quad.draw(gl.GL_TRIANGLE_STRIP)

# Points with sizes and colours of their own, blended.
gl.glEnable(gl.GL_BLEND)
gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
gl.glEnable(gl.GL_VERTEX_PROGRAM_POINT_SIZE)
gl.glEnable(gl.GL_POINT_SPRITE)
points = gloo.Program(
    """attribute vec2 position; attribute float size; attribute vec4 color; varying vec4 c;
    void main() { c = color; gl_PointSize = size; gl_Position = vec4(position, 0.0, 1.0); }""",
    """varying vec4 c;
    void main() {
        float r = length(gl_PointCoord - 0.5);
        gl_FragColor = vec4(c.rgb, c.a * (1.0 - smoothstep(0.4, 0.5, r)));
    }""",
    count=12,
)
angle = np.arange(12) * (2 * np.pi / 12)
points["position"] = np.stack([np.cos(angle), np.sin(angle)], -1) * 0.7
points["size"] = 6.0 + np.arange(12)[:, None]
points["color"] = np.stack([np.cos(angle) ** 2, angle * 0 + 0.3, np.sin(angle) ** 2,
                            angle * 0 + 0.8], -1)  # fmt: skip
points.draw(gl.GL_POINTS)

# Indexed lines.
lines = gloo.Program(
    "attribute vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
    "void main() { gl_FragColor = vec4(0.1, 0.1, 0.1, 1.0); }",
    count=5,
)
lines["position"] = [(-0.93, -0.92), (0.93, -0.92), (0.93, 0.92), (-0.93, 0.92), (0.01, 0.02)]
order = np.array([0, 1, 1, 2, 2, 3, 3, 0], np.uint32).view(gloo.IndexBuffer)
lines.draw(gl.GL_LINES, order)

data = gl.glReadPixels(0, 0, SIZE, SIZE, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE)
Image.frombytes("RGBA", (SIZE, SIZE), data).save(sys.argv[1])
