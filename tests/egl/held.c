/* A library that waits for a thread of its own, which draws: a host may call it with a lock held. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

typedef void *P;
static P find(const char *library, const char *name) {
    return dlsym(dlopen(library, RTLD_NOW), name);
}

static unsigned char pixel[4];

static P draws(P unused) {
    P (*get_display)(unsigned, P, const long *) = find("libEGL.so.1", "eglGetPlatformDisplay");
    int (*initialize)(P, int *, int *) = find("libEGL.so.1", "eglInitialize");
    int (*bind_api)(unsigned) = find("libEGL.so.1", "eglBindAPI");
    int (*choose)(P, const int *, P *, int, int *) = find("libEGL.so.1", "eglChooseConfig");
    P (*context)(P, P, P, const int *) = find("libEGL.so.1", "eglCreateContext");
    P (*pbuffer)(P, P, const int *) = find("libEGL.so.1", "eglCreatePbufferSurface");
    int (*current)(P, P, P, P) = find("libEGL.so.1", "eglMakeCurrent");
    void (*clear_color)(float, float, float, float) = find("libGL.so.1", "glClearColor");
    void (*clear)(unsigned) = find("libGL.so.1", "glClear");
    void (*read)(int, int, int, int, unsigned, unsigned, P) = find("libGL.so.1", "glReadPixels");
    int wanted[] = {0x3033, 1, 0x3024, 8, 0x3038}, size[] = {0x3057, 4, 0x3056, 4, 0x3038}, n = 0;
    P display = get_display(0x31DD, NULL, NULL), config = NULL;
    (void)unused;
    initialize(display, NULL, NULL), bind_api(0x30A2), choose(display, wanted, &config, 1, &n);
    P surface = pbuffer(display, config, size);
    if (!current(display, surface, surface, context(display, config, NULL, NULL))) return NULL;
    for (int k = 0; k < 20; k++) {
        clear_color(k / 19.f, 0, 0, 1), clear(0x4000);
        read(0, 0, 1, 1, 0x1908, 0x1401, pixel);
    }
    current(display, NULL, NULL, NULL);
    return NULL;
}

int draw_in_a_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, draws, NULL) || pthread_join(thread, NULL)) return -1;
    return pixel[0];
}
