"""OSMesa through our libOSMesa, and PyOpenGL on the platform of `gallette.pyopengl()`.

Each runs in a process of its own: a library that is loaded stays.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

OSMESA = """
import ctypes
import numpy as np
from gallette.egl.libraries import folder
from gallette.state_tracker.context import live_contexts

mesa = ctypes.CDLL(str(folder() / "libOSMesa.so.8"))
pointer = ctypes.c_void_p
mesa.OSMesaCreateContextExt.restype = mesa.OSMesaGetCurrentContext.restype = pointer
mesa.OSMesaGetProcAddress.restype = pointer
mesa.OSMesaGetProcAddress.argtypes = [ctypes.c_char_p]
WIDTH, HEIGHT, RGBA, BGRA, RGB, Y_UP, BYTE = 8, 6, 0x1908, 0x1, 0x1907, 0x11, 0x1401


def function(name, *types):
    address = mesa.OSMesaGetProcAddress(name.encode())
    assert address, name
    return ctypes.CFUNCTYPE(None, *types)(address)


def number(name):
    found = ctypes.c_int(-1)
    mesa.OSMesaGetIntegerv(name, ctypes.byref(found))
    return found.value


f, u, i = ctypes.c_float, ctypes.c_uint, ctypes.c_int
results = []
for form, channels in ((RGBA, 4), (BGRA, 4), (RGB, 3)):
    context = mesa.OSMesaCreateContextExt(form, 24, 8, 0, None)
    assert context
    memory = np.zeros((HEIGHT, WIDTH, channels), np.uint8)
    ok = mesa.OSMesaMakeCurrent(
        pointer(context), memory.ctypes.data_as(pointer), BYTE, WIDTH, HEIGHT
    )
    assert ok and mesa.OSMesaGetCurrentContext() == context
    assert (number(0x20), number(0x21), number(0x22)) == (WIDTH, HEIGHT, form)
    function("glClearColor", f, f, f, f)(1.0, 0.2, 0.0, 1.0)
    function("glClear", u)(0x4100)
    function("glEnable", u)(0x0C11)
    function("glScissor", i, i, i, i)(0, 0, WIDTH, 1)
    function("glClearColor", f, f, f, f)(0.0, 0.0, 1.0, 1.0)
    function("glClear", u)(0x4000)
    function("glFinish")()
    results.append((memory[0, 0].tolist(), memory[-1, 0].tolist()))
    if form == RGBA:
        mesa.OSMesaPixelStore(Y_UP, 0)
        function("glFinish")()
        results.append((memory[0, 0].tolist(), memory[-1, 0].tolist()))
        width, height, each, depth = i(), i(), i(), pointer()
        ok = mesa.OSMesaGetDepthBuffer(
            pointer(context), ctypes.byref(width), ctypes.byref(height), ctypes.byref(each),
            ctypes.byref(depth),
        )
        assert ok and (width.value, height.value) == (WIDTH, HEIGHT) and depth.value
    mesa.OSMesaDestroyContext(pointer(context))
    assert not mesa.OSMesaGetCurrentContext()
assert not mesa.OSMesaCreateContextExt(0x1234, 24, 8, 0, None)
assert not live_contexts()
print(results)
"""

PYOPENGL = """
import gallette
gallette.pyopengl()
from OpenGL import EGL, GL
import OpenGL.platform

display = EGL.eglGetDisplay(EGL.EGL_DEFAULT_DISPLAY)
major, minor = EGL.EGLint(), EGL.EGLint()
assert EGL.eglInitialize(display, major, minor)
configs, count = (EGL.EGLConfig * 1)(), EGL.EGLint()
wanted = [EGL.EGL_SURFACE_TYPE, EGL.EGL_PBUFFER_BIT]
for name in (EGL.EGL_RED_SIZE, EGL.EGL_GREEN_SIZE, EGL.EGL_BLUE_SIZE, EGL.EGL_ALPHA_SIZE):
    wanted += [name, 8]
EGL.eglChooseConfig(display, [*wanted, EGL.EGL_NONE], configs, 1, count)
EGL.eglBindAPI(EGL.EGL_OPENGL_API)
context = EGL.eglCreateContext(display, configs[0], EGL.EGL_NO_CONTEXT, None)
size = [EGL.EGL_WIDTH, 4, EGL.EGL_HEIGHT, 4, EGL.EGL_NONE]
surface = EGL.eglCreatePbufferSurface(display, configs[0], size)
assert EGL.eglMakeCurrent(display, surface, surface, context)
GL.glClearColor(0.2, 0.4, 0.6, 1.0)
GL.glClear(GL.GL_COLOR_BUFFER_BIT)
pixel = GL.glReadPixels(1, 1, 1, 1, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE)
print(type(OpenGL.platform.PLATFORM).__name__, GL.glGetString(GL.GL_VENDOR).decode(), list(pixel))
"""


def said(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_osmesa_draws_into_the_callers_memory() -> None:
    red, blue = [255, 51, 0, 255], [0, 0, 255, 255]
    up, down, bgra, rgb = eval(said(OSMESA))
    assert up == (blue, red)  # the first row in memory is the lowest of the picture
    assert down == (red, blue)
    assert bgra == ([255, 0, 0, 255], [0, 51, 255, 255])
    assert rgb == (blue[:3], red[:3])


def test_pyopengl_finds_gallette_as_its_platform() -> None:
    pytest.importorskip("OpenGL")
    assert said(PYOPENGL) == "GallettePlatform gallette [51, 102, 153, 255]"
