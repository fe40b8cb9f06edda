"""Skia's GPU backend on an EGL context made by GLFW's null platform or EGL itself."""

import ctypes
import sys

import skia

egl = ctypes.CDLL("libEGL.so.1")
for name in ("eglGetPlatformDisplay", "eglCreateContext", "eglCreatePbufferSurface"):
    getattr(egl, name).restype = ctypes.c_void_p
display = ctypes.c_void_p(egl.eglGetPlatformDisplay(0x31DD, None, None))
assert egl.eglInitialize(display, None, None)
wanted = (ctypes.c_int * 7)(0x3033, 1, 0x3040, 8, 0x3024, 8, 0x3038)
config, count = ctypes.c_void_p(), ctypes.c_int()
assert egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
egl.eglBindAPI(0x30A2)
context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, None))
assert egl.eglMakeCurrent(display, None, None, context)

gpu = skia.GrDirectContext.MakeGL(skia.GrGLInterface.MakeEGL())
assert gpu is not None
surface = skia.Surface.MakeRenderTarget(
    gpu, skia.Budgeted.kNo, skia.ImageInfo.MakeN32Premul(96, 96)
)
canvas = surface.getCanvas()
canvas.clear(skia.ColorWHITE)
paint = skia.Paint(AntiAlias=True, Color=skia.ColorBLUE)
canvas.drawCircle(40, 40, 30, paint)
paint.setColor(skia.ColorSetARGB(128, 255, 0, 0))
canvas.drawRoundRect(skia.Rect(30, 40, 90, 85), 10, 10, paint)
path = skia.Path()
path.moveTo(10, 90)
path.cubicTo(30, 20, 60, 120, 90, 10)
paint.setStyle(skia.Paint.kStroke_Style)
paint.setStrokeWidth(4)
canvas.drawPath(path, paint)
surface.flushAndSubmit()
surface.makeImageSnapshot().save(sys.argv[1], skia.kPNG)
