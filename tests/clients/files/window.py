from ctypes import CDLL, c_float, c_void_p

glfw, gl = CDLL("libglfw.so.3"), CDLL("libGL.so.1")
glfw.glfwCreateWindow.restype = c_void_p
glfw.glfwInit()
window = c_void_p(glfw.glfwCreateWindow(320, 240, b"GLFW", None, None))
glfw.glfwMakeContextCurrent(window)
while not glfw.glfwWindowShouldClose(window):
    gl.glClear(0x4000)
    gl.glBegin(4)
    for x, y, color in ((-0.8, -0.7, (1, 0, 0)), (0.8, -0.7, (0, 1, 0)), (0, 0.8, (0, 0, 1))):
        gl.glColor3f(*map(c_float, color))
        gl.glVertex2f(c_float(x), c_float(y))
    gl.glEnd()
    glfw.glfwSwapBuffers(window)
    glfw.glfwPollEvents()
