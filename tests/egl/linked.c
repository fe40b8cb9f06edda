/* A program that is linked with OpenGL's libraries: names of the context, and a pixel it clears. */
#include <stdint.h>
#include <stdio.h>

extern const unsigned char *glGetString(unsigned name);
extern void glClearColor(float r, float g, float b, float a);
extern void glClear(unsigned mask);
extern void glReadPixels(int x, int y, int w, int h, unsigned format, unsigned type, void *data);

#ifdef GLX
extern void *XOpenDisplay(const char *name);
extern void *glXChooseFBConfig(void *display, int screen, const int *attribs, int *count);
extern void *glXCreateNewContext(void *display, void *config, int type, void *share, int direct);
extern unsigned long glXCreatePbuffer(void *display, void *config, const int *attribs);
extern int glXMakeContextCurrent(void *d, unsigned long draw, unsigned long read, void *context);
extern void (*glXGetProcAddress(const char *name))(void);
#define PROC glXGetProcAddress

static int start(void)
{
    const int wanted[] = {0x8010, 4, 0}, size[] = {0x8041, 8, 0x8040, 8, 0};
    void *display = XOpenDisplay(NULL);
    int count = 0;
    void **configs = display ? glXChooseFBConfig(display, 0, wanted, &count) : NULL;
    if (!count) return 0;
    void *context = glXCreateNewContext(display, configs[0], 0x8014, NULL, 1);
    unsigned long drawable = glXCreatePbuffer(display, configs[0], size);
    return glXMakeContextCurrent(display, drawable, drawable, context);
}
#else
extern void *eglGetPlatformDisplay(unsigned platform, void *native, const intptr_t *attribs);
extern unsigned eglInitialize(void *display, int *major, int *minor);
extern unsigned eglBindAPI(unsigned api);
extern unsigned eglChooseConfig(void *d, const int *attribs, void *configs, int room, int *count);
extern void *eglCreateContext(void *display, void *config, void *share, const int *attribs);
extern void *eglCreatePbufferSurface(void *display, void *config, const int *attribs);
extern unsigned eglMakeCurrent(void *display, void *draw, void *read, void *context);
extern void (*eglGetProcAddress(const char *name))(void);
#define PROC eglGetProcAddress

static int start(void)
{
    const int wanted[] = {0x3033, 1, 0x3040, 8 | 4, 0x3038}, size[] = {0x3057, 8, 0x3056, 8, 0x3038};
    const int version[] = {0x3098, 2, 0x3038};
    void *display = eglGetPlatformDisplay(0x31DD, NULL, NULL), *config;
    int count = 0;
    if (!eglInitialize(display, NULL, NULL)) return 0;
    eglBindAPI(API);
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || !count) return 0;
    void *surface = eglCreatePbufferSurface(display, config, size);
    void *context = eglCreateContext(display, config, NULL, API == 0x30A0 ? version : NULL);
    return eglMakeCurrent(display, surface, surface, context);
}
#endif

int main(void)
{
    unsigned char pixel[4] = {0};
    if (!start()) return 1;
    for (unsigned name = 0x1F00; name <= 0x1F03; name++) {
        const char *text = (const char *)glGetString(name);
        printf("%.8s|", text ? text : "NULL");
    }
    const unsigned char *(*found)(unsigned) = (const unsigned char *(*)(unsigned))PROC("glGetString");
    printf("%.8s|", (const char *)found(0x1F00));
    glClearColor(1.0f, 0.0f, 1.0f, 1.0f);
    glClear(0x4000);
    glReadPixels(0, 0, 1, 1, 0x1908, 0x1401, pixel);
    printf("%d %d %d %d\n", pixel[0], pixel[1], pixel[2], pixel[3]);
    return 0;
}
