/* A square that turns, drawn with EGL and OpenGL from C: a frame each time buffers are swapped. */
#if __has_include(<EGL/egl.h>) && __has_include(<GL/gl.h>)
#include <EGL/egl.h>
#include <GL/gl.h>
#else /* no headers are installed: what this program needs of them */
typedef int EGLint;
typedef void *EGLDisplay, *EGLConfig, *EGLSurface, *EGLContext;
EGLDisplay eglGetDisplay(void *);
unsigned eglInitialize(EGLDisplay, EGLint *, EGLint *), eglBindAPI(unsigned);
unsigned eglChooseConfig(EGLDisplay, const EGLint *, EGLConfig *, EGLint, EGLint *);
EGLSurface eglCreatePbufferSurface(EGLDisplay, EGLConfig, const EGLint *);
EGLContext eglCreateContext(EGLDisplay, EGLConfig, EGLContext, const EGLint *);
unsigned eglMakeCurrent(EGLDisplay, EGLSurface, EGLSurface, EGLContext);
unsigned eglSwapBuffers(EGLDisplay, EGLSurface);
void glClearColor(float, float, float, float), glClear(unsigned), glLoadIdentity(void);
void glRotatef(float, float, float, float), glColor3f(float, float, float);
void glRectf(float, float, float, float);
enum {
    EGL_ALPHA_SIZE = 0x3021, EGL_RED_SIZE = 0x3024, EGL_SURFACE_TYPE = 0x3033, EGL_NONE = 0x3038,
    EGL_RENDERABLE_TYPE = 0x3040, EGL_HEIGHT = 0x3056, EGL_WIDTH = 0x3057,
    EGL_OPENGL_API = 0x30A2, EGL_PBUFFER_BIT = 1, EGL_OPENGL_BIT = 8,
    GL_COLOR_BUFFER_BIT = 0x4000,
};
#define EGL_DEFAULT_DISPLAY ((void *)0)
#define EGL_NO_CONTEXT ((EGLContext)0)
#endif

int main(void)
{
    static const EGLint wanted[] = {
        EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
        EGL_RED_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_NONE,
    };
    static const EGLint size[] = {EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE};
    EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    EGLConfig config;
    EGLint count = 0;
    if (!eglInitialize(display, 0, 0) || !eglBindAPI(EGL_OPENGL_API)
        || !eglChooseConfig(display, wanted, &config, 1, &count) || !count)
        return 1;
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, 0);
    if (!eglMakeCurrent(display, surface, surface, context))
        return 2;
    for (int frame = 0; frame < 3; frame++) {
        glClearColor(0.1f, 0.1f, 0.1f, 1.0f);
        glClear(GL_COLOR_BUFFER_BIT);
        glLoadIdentity();
        glRotatef(15.0f * frame, 0.0f, 0.0f, 1.0f);
        glColor3f(0.9f, 0.7f, 0.1f);
        glRectf(-0.5f, -0.5f, 0.5f, 0.5f);
        eglSwapBuffers(display, surface);
    }
    return 0;
}
