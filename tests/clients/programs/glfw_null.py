"""GLFW without a window system (its null platform): a window in memory, drawn to through OSMesa."""

import array
import ctypes
import sys

import glfw
import moderngl
from PIL import Image


class Loader:
    """What moderngl asks for functions."""

    def load_opengl_function(self, name: str) -> int:
        return ctypes.cast(glfw.get_proc_address(name), ctypes.c_void_p).value or 0

    def __enter__(self) -> None:
        """The window's context is current."""

    def __exit__(self, *_: object) -> None: ...

    def release(self) -> None: ...


glfw.init_hint(glfw.PLATFORM, glfw.PLATFORM_NULL)
assert glfw.init(), glfw.get_error()
glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.OSMESA_CONTEXT_API)
glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
window = glfw.create_window(64, 64, "gallette", None, None)
assert window, glfw.get_error()
glfw.make_context_current(window)
ctx = moderngl.create_context(context=Loader())
ctx.screen.use()
ctx.clear(0.2, 0.4, 0.6, 1.0)
ctx.scissor = (10, 20, 30, 10)
ctx.clear(1.0, 0.5, 0.0, 1.0)
ctx.scissor = None
program = ctx.program(
    vertex_shader="""#version 330
        in vec2 at; out vec2 place; void main() { gl_Position = vec4(at, 0, 1); place = at; }""",
    fragment_shader="""#version 330
        in vec2 place; out vec4 color; void main() { color = vec4(place, 0.5, 1); }""",
)
corners = ctx.buffer(data=memoryview(array.array("f", [0, 0, 0.9, 0.1, 0.3, 0.8])))
ctx.vertex_array(program, [(corners, "2f", "at")]).render()
glfw.swap_buffers(window)
Image.frombytes("RGBA", (64, 64), ctx.screen.read(components=4)).save(sys.argv[1])
