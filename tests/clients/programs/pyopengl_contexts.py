"""PyOpenGL on one EGL context after the other: each draws, and on gallette nothing stays of it."""

import gc
import sys
from ctypes import c_float

from OpenGL.EGL import (
    EGL_BLUE_SIZE,
    EGL_DEFAULT_DISPLAY,
    EGL_HEIGHT,
    EGL_NO_CONTEXT,
    EGL_NO_SURFACE,
    EGL_NONE,
    EGL_OPENGL_API,
    EGL_OPENGL_BIT,
    EGL_PBUFFER_BIT,
    EGL_RENDERABLE_TYPE,
    EGL_SURFACE_TYPE,
    EGL_WIDTH,
    EGLConfig,
    EGLint,
    eglBindAPI,
    eglChooseConfig,
    eglCreateContext,
    eglCreatePbufferSurface,
    eglDestroyContext,
    eglDestroySurface,
    eglGetDisplay,
    eglInitialize,
    eglMakeCurrent,
)  # fmt: skip
from OpenGL.GL import (
    GL_ARRAY_BUFFER,
    GL_COLOR_BUFFER_BIT,
    GL_FLOAT,
    GL_RGBA,
    GL_STATIC_DRAW,
    GL_TRIANGLES,
    GL_UNSIGNED_BYTE,
    GL_VERTEX_ARRAY,
    glBindBuffer,
    glBufferData,
    glClear,
    glClearColor,
    glColor3f,
    glDrawArrays,
    glEnableClientState,
    glGenBuffers,
    glReadPixels,
    glVertexPointer,
)  # fmt: skip
from PIL import Image

display = eglGetDisplay(EGL_DEFAULT_DISPLAY)
assert eglInitialize(display, EGLint(), EGLint())
wanted = [EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_BLUE_SIZE, 8,
          EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE]  # fmt: skip
configs, count = (EGLConfig * 1)(), EGLint()
assert eglChooseConfig(display, (EGLint * len(wanted))(*wanted), configs, 1, count)
eglBindAPI(EGL_OPENGL_API)


def drawn(red):
    """A picture of a context that is destroyed then."""
    size = (EGLint * 5)(EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_NONE)
    surface = eglCreatePbufferSurface(display, configs[0], size)
    context = eglCreateContext(display, configs[0], EGL_NO_CONTEXT, None)
    assert eglMakeCurrent(display, surface, surface, context)
    glClearColor(0.2, 0.2, 0.3, 1.0)
    glClear(GL_COLOR_BUFFER_BIT)
    glBindBuffer(GL_ARRAY_BUFFER, glGenBuffers(1))
    corners = (c_float * 6)(-1, -1, 1, -1, 0, 1)
    glBufferData(GL_ARRAY_BUFFER, 24, corners, GL_STATIC_DRAW)
    glVertexPointer(2, GL_FLOAT, 0, None)
    glEnableClientState(GL_VERTEX_ARRAY)
    glColor3f(red, 0.5, 0.0)
    glDrawArrays(GL_TRIANGLES, 0, 3)
    data = glReadPixels(0, 0, 32, 32, GL_RGBA, GL_UNSIGNED_BYTE)
    assert eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT)
    assert eglDestroyContext(display, context) and eglDestroySurface(display, surface)
    return data


def alive():
    """gallette's objects, but for those of the display."""
    gc.collect()
    kinds = ("state_tracker", "drivers.common")
    return sum(
        type(o).__module__.startswith("gallette.") and any(k in type(o).__module__ for k in kinds)
        for o in gc.get_objects()
    )


data = drawn(0.0)
before = alive()
for step in range(6):
    data = drawn(step / 5)
assert alive() <= before, (alive(), before)
Image.frombytes("RGBA", (32, 32), data).save(sys.argv[1])
