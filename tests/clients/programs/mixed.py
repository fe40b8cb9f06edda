"""moderngl and PyOpenGL in one program, as manimgl does: one context, one OpenGL."""

import sys

import moderngl
from OpenGL import GL
from PIL import Image

ctx = moderngl.create_context(standalone=True, backend="egl")
target = ctx.simple_framebuffer((32, 32))
target.use()
GL.glClearColor(0.2, 0.6, 0.4, 1.0)
GL.glClear(GL.GL_COLOR_BUFFER_BIT)
GL.glEnable(GL.GL_SCISSOR_TEST)
GL.glScissor(4, 4, 10, 20)
GL.glClearColor(1.0, 0.0, 0.5, 1.0)
GL.glClear(GL.GL_COLOR_BUFFER_BIT)
assert GL.glGetIntegerv(GL.GL_DRAW_FRAMEBUFFER_BINDING) == target.glo
Image.frombytes("RGBA", (32, 32), target.read(components=4)).save(sys.argv[1])
