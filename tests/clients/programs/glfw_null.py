"""GLFW without a window system (its null platform), contexts through EGL."""

import sys

import glfw
import moderngl
from PIL import Image

glfw.init_hint(glfw.PLATFORM, glfw.PLATFORM_NULL)
assert glfw.init(), glfw.get_error()
glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)
glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
window = glfw.create_window(64, 64, "gallette", None, None)
assert window, glfw.get_error()
glfw.make_context_current(window)
ctx = moderngl.create_context()
ctx.screen.use()
ctx.clear(0.2, 0.4, 0.6, 1.0)
ctx.scissor = (10, 20, 30, 10)
ctx.clear(1.0, 0.5, 0.0, 1.0)
Image.frombytes("RGBA", (64, 64), ctx.screen.read(components=4)).save(sys.argv[1])
