/* Programs of OpenGL's first years, to be measured: frames of one kind of call, whose name is the
   argument. Prints the processor time of a frame in milliseconds, and a sum of the picture. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <sys/resource.h>

enum { SIDE = 512, WARM = 4 };

static double used(void) {
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    return now.ru_utime.tv_sec * 1e3 + now.ru_utime.tv_usec / 1e3 + now.ru_stime.tv_sec * 1e3 +
           now.ru_stime.tv_usec / 1e3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 32 bicubic patches, each a mesh of 14 x 14 squares. */
static void meshes(int frame) {
    GLfloat points[4][4][3];
    glMatrixMode(GL_MODELVIEW);
    glEnable(GL_MAP2_VERTEX_3);
    glEnable(GL_AUTO_NORMAL);
    glMapGrid2f(14, 0, 1, 14, 0, 1);
    for (int patch = 0; patch < 32; patch++) {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                points[i][j][0] = j / 3.f, points[i][j][1] = i / 3.f;
                points[i][j][2] = sinf(i + j + patch) * 0.3f;
            }
        glMap2f(GL_MAP2_VERTEX_3, 0, 1, 3, 4, 0, 1, 12, 4, &points[0][0][0]);
        glPushMatrix();
        glTranslatef(patch % 8 * 0.25f - 1, patch / 8 * 0.5f - 1, 0);
        glRotatef(frame, 0, 0, 1);
        glScalef(0.24f, 0.48f, 1);
        glEvalMesh2(GL_FILL, 0, 14, 0, 14);
        glPopMatrix();
    }
}

static GLuint made;

/* 1,000 calls of a list that holds a lit cube and a translation, as scenes of boxes do. */
static void lists(int frame) {
    static const GLfloat faces[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    if (!made) {
        made = glGenLists(1);
        glNewList(made, GL_COMPILE);
        glBegin(GL_QUADS);
        for (int f = 0; f < 6; f++) {
            const GLfloat *n = faces[f];
            glNormal3fv(n);
            for (int c = 0; c < 4; c++) {
                GLfloat a = c == 1 || c == 2 ? 1 : -1, b = c > 1 ? 1 : -1;
                glVertex3f(n[0] + a * n[1] + b * n[2], n[1] + a * n[2] + b * n[0],
                           n[2] + a * n[0] + b * n[1]);
            }
        }
        glEnd();
        glEndList();
    }
    for (int k = 0; k < 1000; k++) {
        glPushMatrix();
        glTranslatef(k % 40 / 20.f - 0.97f, k / 40 / 12.5f - 0.96f, 0);
        glRotatef(frame + k, 1, 1, 0);
        glScalef(0.015f, 0.015f, 0.015f);
        glCallList(made);
        glPopMatrix();
    }
}

/* Text by bitmaps of lists: 1,000 characters by glCallLists. */
static void letters(int frame) {
    static const GLubyte rows[8] = {0x18, 0x24, 0x42, 0x42, 0x7e, 0x42, 0x42, 0};
    char line[50];
    if (!made) {
        made = glGenLists(128);
        for (int k = 0; k < 128; k++) {
            glNewList(made + k, GL_COMPILE);
            glBitmap(8, 8, 0, 0, 9, 0, rows);
            glEndList();
        }
    }
    glDisable(GL_LIGHTING);
    glListBase(made);
    memset(line, 'a' + frame % 20, sizeof line);
    for (int k = 0; k < 20; k++) {
        glRasterPos2f(-0.95f, k * 0.09f - 0.9f);
        glCallLists(sizeof line, GL_UNSIGNED_BYTE, line);
    }
    glEnable(GL_LIGHTING);
}

/* 1,000 coloured squares, each between a glBegin and a glEnd. */
static void begins(int frame) {
    glDisable(GL_LIGHTING);
    for (int k = 0; k < 1000; k++) {
        GLfloat x = k % 40 / 20.f - 1, y = k / 40 / 12.5f - 1;
        glColor3f(k % 7 / 7.f, k % 5 / 5.f, frame % 3 / 3.f);
        glBegin(GL_QUADS);
        glVertex2f(x, y), glVertex2f(x + 0.04f, y), glVertex2f(x + 0.04f, y + 0.07f);
        glVertex2f(x, y + 0.07f);
        glEnd();
    }
    glEnable(GL_LIGHTING);
}

/* One glBegin with 10,000 vertices that have colours. */
static void vertices(int frame) {
    glDisable(GL_LIGHTING);
    glBegin(GL_TRIANGLE_STRIP);
    for (int k = 0; k < 10000; k++) {
        glColor3f(k % 7 / 7.f, k % 5 / 5.f, frame % 3 / 3.f);
        glVertex2f(k / 2 % 100 / 50.f - 1, (k / 200 + k % 2) / 25.f - 1);
    }
    glEnd();
    glEnable(GL_LIGHTING);
}

static const struct { const char *name; void (*draw)(int); } KINDS[] = {
    {"meshes", meshes}, {"lists", lists}, {"letters", letters}, {"begins", begins},
    {"vertices", vertices},
};

int main(int count, char **words) {
    EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                       EGL_DEPTH_SIZE, 24, EGL_RED_SIZE, 8, EGL_NONE};
    EGLint size[] = {EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_NONE}, found = 0;
    static GLubyte picture[SIDE * SIDE * 4];
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
    EGLConfig config;
    int frames = count > 2 ? atoi(words[2]) : 5;
    void (*draw)(int) = NULL;
    for (unsigned k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        if (count > 1 && !strcmp(words[1], KINDS[k].name)) draw = KINDS[k].draw;
    double *times = malloc(sizeof(double) * frames), before = 0;
    if (!draw || frames < 1) return 2;
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) return 2;
    if (!eglChooseConfig(display, wanted, &config, 1, &found) || !found) return 2;
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    EGLContext context = eglCreateContext(display, config, NULL, NULL);
    if (!eglMakeCurrent(display, surface, surface, context)) return 2;
    glEnable(GL_LIGHTING), glEnable(GL_LIGHT0), glEnable(GL_DEPTH_TEST), glEnable(GL_NORMALIZE);
    for (int frame = 0; frame < WARM + frames; frame++) {
        before = used();
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        draw(frame);
        glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, picture);
        if (frame >= WARM) times[frame - WARM] = used() - before;
    }
    unsigned long sum = 0;
    for (int k = 0; k < SIDE * SIDE * 4; k++) sum += picture[k];
    qsort(times, frames, sizeof(double), by_size);
    printf("%.3f %lu %u\n", times[frames / 2], sum, glGetError());
    return 0;
}
