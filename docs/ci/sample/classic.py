"""Drawings with PyOpenGL, the way it was done before shaders."""

from OpenGL import GL


def fan():
    GL.glClearColor(0.0, 0.0, 0.3, 1.0)
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    GL.glBegin(GL.GL_TRIANGLE_FAN)
    for red, green, x, y in ((1, 1, 0, 0), (1, 0, -0.8, -0.8), (0, 1, 0.8, -0.8), (1, 0, 0, 0.9)):
        GL.glColor3f(red, green, 0.2)
        GL.glVertex2f(x, y)
    GL.glEnd()


def lit_quad():
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    GL.glEnable(GL.GL_LIGHTING)
    GL.glEnable(GL.GL_LIGHT0)
    GL.glLightfv(GL.GL_LIGHT0, GL.GL_POSITION, (0.5, 0.5, 1.0, 1.0))
    GL.glMaterialfv(GL.GL_FRONT_AND_BACK, GL.GL_DIFFUSE, (0.2, 0.8, 0.4, 1.0))
    GL.glNormal3f(0.0, 0.0, 1.0)
    GL.glBegin(GL.GL_QUADS)
    for x, y in ((-0.7, -0.7), (0.7, -0.7), (0.7, 0.7), (-0.7, 0.7)):
        GL.glVertex2f(x, y)
    GL.glEnd()


def lines():
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    GL.glLineWidth(3.0)
    GL.glBegin(GL.GL_LINE_LOOP)
    for x, y in ((-0.7, -0.5), (0.7, -0.5), (0.7, 0.5), (-0.7, 0.5)):
        GL.glVertex2f(x, y)
    GL.glEnd()
