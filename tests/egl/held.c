/* A thread that draws while its starter waits for it, with or without Python's lock. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>

extern unsigned eglMakeCurrent(void *display, void *draw, void *read, void *context);
extern void glClearColor(float r, float g, float b, float a);
extern void glClear(unsigned mask);
extern void glEnable(unsigned cap);
extern void glScissor(int x, int y, int width, int height);
extern void glReadPixels(int x, int y, int w, int h, unsigned format, unsigned type, void *data);

static sem_t go, done;
static void *given[3];
static unsigned char seen[8];

static void *body(void *unused)
{
    eglMakeCurrent(given[0], given[1], given[1], given[2]);
    sem_post(&done);
    sem_wait(&go);
    glClearColor(1, 0, 1, 1);
    glClear(0x4000);
    glEnable(0x0C11);
    glScissor(0, 0, 1, 1);
    glClearColor(0, 1, 0, 1);
    glClear(0x4000);
    sem_post(&done);
    sem_wait(&go);
    glReadPixels(0, 0, 2, 1, 0x1908, 0x1401, seen);
    eglMakeCurrent(given[0], NULL, NULL, NULL);
    sem_post(&done);
    return unused;
}

int begin(void *display, void *surface, void *context)
{
    pthread_t thread;
    given[0] = display, given[1] = surface, given[2] = context;
    sem_init(&go, 0, 0), sem_init(&done, 0, 0);
    return pthread_create(&thread, NULL, body, NULL) || sem_wait(&done);
}

/* 0 if the thread has done its next part, within 30 seconds. */
int next(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 30;
    sem_post(&go);
    return sem_timedwait(&done, &end);
}

const unsigned char *pixels(void) { return seen; }
