"""PyOpenGL on an EGL pbuffer: fixed function, a quadric of GLU, error checking on."""

import sys

from OpenGL.EGL import (
    EGL_BLUE_SIZE,
    EGL_DEFAULT_DISPLAY,
    EGL_DEPTH_SIZE,
    EGL_HEIGHT,
    EGL_NO_CONTEXT,
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
    eglGetDisplay,
    eglInitialize,
    eglMakeCurrent,
)  # fmt: skip
from OpenGL.GL import (
    GL_COLOR_BUFFER_BIT,
    GL_DEPTH_BUFFER_BIT,
    GL_DEPTH_TEST,
    GL_LIGHT0,
    GL_LIGHTING,
    GL_MODELVIEW,
    GL_POSITION,
    GL_PROJECTION,
    GL_RGBA,
    GL_UNSIGNED_BYTE,
    glClear,
    glClearColor,
    glEnable,
    glFrustum,
    glLightfv,
    glMatrixMode,
    glReadPixels,
    glRotatef,
    glTranslatef,
)  # fmt: skip
from PIL import Image

display = eglGetDisplay(EGL_DEFAULT_DISPLAY)
major, minor = EGLint(), EGLint()
assert eglInitialize(display, major, minor)
wanted = [EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_BLUE_SIZE, 8, EGL_DEPTH_SIZE, 24,
          EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE]  # fmt: skip
configs, count = (EGLConfig * 1)(), EGLint()
assert eglChooseConfig(display, (EGLint * len(wanted))(*wanted), configs, 1, count)
size = (EGLint * 5)(EGL_WIDTH, 96, EGL_HEIGHT, 96, EGL_NONE)
surface = eglCreatePbufferSurface(display, configs[0], size)
eglBindAPI(EGL_OPENGL_API)
context = eglCreateContext(display, configs[0], EGL_NO_CONTEXT, None)
assert eglMakeCurrent(display, surface, surface, context)

glClearColor(0.2, 0.2, 0.3, 1.0)
glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT)
glEnable(GL_DEPTH_TEST)
glEnable(GL_LIGHTING)
glEnable(GL_LIGHT0)
glLightfv(GL_LIGHT0, GL_POSITION, [1.0, 1.0, 1.0, 0.0])
glMatrixMode(GL_PROJECTION)
glFrustum(-1, 1, -1, 1, 2, 20)
glMatrixMode(GL_MODELVIEW)
glTranslatef(0, 0, -5)
glRotatef(30, 1, 1, 0)
if len(sys.argv) > 2:
    from OpenGL.GLU import gluNewQuadric, gluSphere

    gluSphere(gluNewQuadric(), 1.5, 24, 16)
else:
    from OpenGL.GL import GL_TRIANGLES, glBegin, glEnd, glNormal3f, glVertex3f

    glBegin(GL_TRIANGLES)
    glNormal3f(0, 0, 1)
    for x, y, z in ((-2, -2, 0), (2, -2, 0), (0, 2, 1)):
        glVertex3f(x, y, z)
    glEnd()
data = glReadPixels(0, 0, 96, 96, GL_RGBA, GL_UNSIGNED_BYTE)
Image.frombytes("RGBA", (96, 96), data).save(sys.argv[1])
