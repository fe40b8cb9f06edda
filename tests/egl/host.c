/* A C program that knows nothing of Python: it opens libEGL and draws. The argument says what. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *P;
static P lib;
static P (*get_proc)(const char *);
static P (*get_display)(unsigned, P, const long *);
static int (*initialize)(P, int *, int *), (*terminate)(P), (*bind_api)(unsigned);
static int (*choose)(P, const int *, P *, int, int *);
static P (*create_context)(P, P, P, const int *), (*create_pbuffer)(P, P, const int *);
static int (*make_current)(P, P, P, P), (*egl_error)(void), (*api)(void);
static P (*current)(void);
static int (*destroy_context)(P, P), (*destroy_surface)(P, P);
static void (*clear_color)(float, float, float, float), (*clear)(unsigned), (*flush)(void);
static void (*read_pixels)(int, int, int, int, unsigned, unsigned, P), (*depth_func)(unsigned);
static unsigned (*gl_error)(void);
static const char *(*get_string)(unsigned);
static P display, config;

static P need(const char *name) {
    P found = dlsym(lib, name);
    if (!found) { printf("no %s\n", name); exit(2); }
    return found;
}

static void start(void) {
    int count = 0, wanted[] = {0x3033, 1, 0x3040, 8, 0x3024, 8, 0x3038};
    lib = dlopen("libEGL.so.1", RTLD_NOW);
    if (!lib) { puts(dlerror()); exit(2); }
    get_proc = need("eglGetProcAddress"); get_display = need("eglGetPlatformDisplay");
    initialize = need("eglInitialize"); terminate = need("eglTerminate");
    bind_api = need("eglBindAPI"); choose = need("eglChooseConfig");
    create_context = need("eglCreateContext"); create_pbuffer = need("eglCreatePbufferSurface");
    make_current = need("eglMakeCurrent"); egl_error = need("eglGetError");
    api = need("eglQueryAPI"); current = need("eglGetCurrentContext");
    destroy_context = need("eglDestroyContext"); destroy_surface = need("eglDestroySurface");
    clear_color = get_proc("glClearColor"); clear = get_proc("glClear");
    flush = get_proc("glFlush"); read_pixels = get_proc("glReadPixels");
    gl_error = get_proc("glGetError"); get_string = get_proc("glGetString");
    depth_func = get_proc("glDepthFunc");
    display = get_display(0x31DD, NULL, NULL);
    if (!display || !initialize(display, NULL, NULL)) { printf("no display\n"); exit(2); }
    bind_api(0x30A2);
    choose(display, wanted, &config, 1, &count);
    if (!count) { printf("no config\n"); exit(2); }
}

static P surface(void) {
    int size[] = {0x3057, 8, 0x3056, 4, 0x3038};
    return create_pbuffer(display, config, size);
}

static int red(void) {
    unsigned char pixel[4] = {0};
    read_pixels(7, 3, 1, 1, 0x1908, 0x1401, pixel);
    return pixel[0];
}

static int draw(float value) {
    clear_color(value, 0, 0, 1);
    clear(0x4000);
    return red();
}

static long resident(void) {  /* kilobytes of memory in use */
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) exit(2);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int drawn_and_gone(void) {  /* a context that draws a triangle, and is destroyed */
    static const float corners[] = {-1, -1, 3, -1, -1, 3};
    void (*use)(unsigned) = get_proc("glEnableClientState");
    void (*color)(float, float, float) = get_proc("glColor3f");
    void (*place)(int, unsigned, int, const void *) = get_proc("glVertexPointer");
    void (*arrays)(unsigned, int, int) = get_proc("glDrawArrays");
    P s = surface(), c = create_context(display, config, NULL, NULL);
    make_current(display, s, s, c);
    use(0x8074); color(0.4f, 0, 0);
    place(2, 0x1406, 0, corners); arrays(4, 0, 3);
    int found = red();
    make_current(display, NULL, NULL, NULL);
    destroy_context(display, c); destroy_surface(display, s);
    return found;
}

static void *in_thread(void *argument) {
    int number = (int)(long)argument;
    bind_api(0x30A2);
    P s = surface(), c = create_context(display, config, NULL, NULL);
    long good = make_current(display, s, s, c);
    for (int i = 0; i < 20; i++) good += draw(number / 51.0f * 10) == number * 50;
    make_current(display, NULL, NULL, NULL);
    return (void *)good;
}

static void *ends_with_a_context(void *context) {
    bind_api(0x30A2);
    P s = surface();
    return (void *)(long)(make_current(display, s, s, context) && draw(0.4f) == 102 && !terminate(NULL));
}

static void *begins(void *context) {  /* perhaps with the identifier of the one that ended */
    long found = current() != NULL || red() || egl_error() != 0x3000 || api() != 0x30A0;
    bind_api(0x30A2);
    P s = surface();
    return (void *)(found << 1 | (make_current(display, s, s, context) && draw(0.4f) == 102));
}

static long after(void *(*function)(void *), P argument) {
    pthread_t thread;
    P found;
    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, &found);
    return (long)found;
}

static volatile sig_atomic_t heard = 0;
static void on_interrupt(int number) { (void)number; heard++; }

static int run(const char *what) {
    bind_api(0x30A2);
    if (!strcmp(what, "unmade")) {  /* no context: calls do nothing */
        clear_color(1, 0, 0, 1); clear(0x4000);
        printf("%u\n", gl_error());
        return 0;
    }
    P s = surface(), c = create_context(display, config, NULL, NULL);
    if (!make_current(display, s, s, c)) { printf("error %x\n", egl_error()); return 1; }
    if (!strcmp(what, "draw")) printf("%d %s\n", draw(0.2f), get_string(0x1F00));
    if (!strcmp(what, "es1")) {  /* OpenGL ES 1.1: fixed function, fixed point */
        static const short corners[] = {-1, -1, 3, -1, -1, 3};
        int version[] = {0x3098, 1, 0x3038};
        bind_api(0x30A0);
        P c1 = create_context(display, config, NULL, version);
        if (!make_current(display, s, s, c1)) { printf("error %x\n", egl_error()); return 1; }
        void (*color)(int, int, int, int) = get_proc("glColor4x");
        void (*use)(unsigned) = get_proc("glEnableClientState");
        void (*place)(int, unsigned, int, const void *) = get_proc("glVertexPointer");
        void (*arrays)(unsigned, int, int) = get_proc("glDrawArrays");
        color(0x3333, 0, 0, 0x10000); use(0x8074);
        place(2, 0x1402, 0, corners); arrays(4, 0, 3);
        printf("%d %x %.16s\n", red(), gl_error(), get_string(0x1F02));
    }
    if (!strcmp(what, "two")) {
        P s2 = surface(), c2 = create_context(display, config, NULL, NULL);
        int first = draw(0.2f);
        make_current(display, s2, s2, c2);
        int second = draw(0.4f);
        make_current(display, s, s, c);
        printf("%d %d %d\n", first, second, red());
    }
    if (!strcmp(what, "threads")) {
        pthread_t threads[4];
        long good = 0;
        for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, in_thread, (void *)(i + 1));
        for (int i = 0; i < 4; i++) { P r; pthread_join(threads[i], &r); good += (long)r; }
        printf("%ld %d\n", good, draw(0.2f));
    }
    if (!strcmp(what, "ended")) {  /* what was current goes with its thread, errors go with it */
        P c2 = create_context(display, config, NULL, NULL);
        long one = after(ends_with_a_context, c2), two = after(begins, c2), three = after(begins, c2);
        printf("%ld %ld %ld %d\n", one, two, three, draw(0.2f));
    }
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (!child) _exit(draw(0.4f) == 102 ? 0 : 1);
        int status; waitpid(child, &status, 0);
        printf("%d %d\n", status, draw(0.2f));
    }
    if (!strcmp(what, "interrupt")) {  /* Ctrl-C is the program's: its handler, or its end */
        pid_t child = fork();
        if (!child) { draw(0.4f); raise(SIGINT); _exit(0); }
        int status; waitpid(child, &status, 0);
        signal(SIGINT, on_interrupt);
        int first = draw(0.2f);
        raise(SIGINT);
        printf("%d %d %d %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0, first, heard, draw(0.4f));
    }
    if (!strcmp(what, "terminated")) {  /* handles that are gone */
        terminate(display);
        P c2 = create_context(display, config, NULL, NULL);
        int error = egl_error();
        int destroyed = destroy_surface(display, s), error2 = egl_error();
        printf("%p %x %d %x %d\n", c2, error, destroyed, error2, draw(0.2f));
        make_current(display, NULL, NULL, NULL);
        draw(0.2f);
    }
    if (!strcmp(what, "errors")) {
        depth_func(0x1234);
        unsigned first = gl_error(), second = gl_error();
        int bad = make_current(display, (P)0x1234, (P)0x1234, c), code = egl_error();
        printf("%x %x %d %x %x\n", first, second, bad, code, egl_error());
    }
    if (!strcmp(what, "finalized")) {  /* the program ends Python, and calls on */
        printf("%d ", draw(0.2f));
        ((int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure"))();
        ((void (*)(void))dlsym(RTLD_DEFAULT, "Py_Finalize"))();
        unsigned char pixel[4] = {9};
        clear(0x4000);
        flush();
        read_pixels(0, 0, 1, 1, 0x1908, 0x1401, pixel);
        printf("%d %x %d ", pixel[0], gl_error(), get_string(0x1F00) != NULL);
        void (*late)(void) = get_proc("glFinish");  /* glvnd has one of its own */
        if (late) late();
        printf("%d\n", make_current(display, NULL, NULL, NULL) != 0);
    }
    if (!strcmp(what, "embedding")) {  /* the program starts Python for itself, and ends it */
        int first = draw(0.2f);
        ((void (*)(int))dlsym(RTLD_DEFAULT, "Py_InitializeEx"))(0);
        int held = ((int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Check"))();
        int (*say)(const char *, P) = dlsym(RTLD_DEFAULT, "PyRun_SimpleStringFlags");
        int failed = say("import fractions", NULL), second = draw(0.4f);
        P state = ((P (*)(void))dlsym(RTLD_DEFAULT, "PyEval_SaveThread"))();
        int third = draw(0.2f);
        ((void (*)(P))dlsym(RTLD_DEFAULT, "PyEval_RestoreThread"))(state);
        ((void (*)(void))dlsym(RTLD_DEFAULT, "Py_Finalize"))();
        ((void (*)(void))dlsym(RTLD_DEFAULT, "Py_Initialize"))();
        printf("%d %d %d %d %d %d\n", first, held, failed, second, third, say("2 + 3", NULL));
    }
    if (!strcmp(what, "outlived")) {  /* the program ends Python, and then what it made */
        int drawn = draw(0.2f);
        ((int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure"))();
        ((void (*)(void))dlsym(RTLD_DEFAULT, "Py_Finalize"))();
        int left = make_current(display, NULL, NULL, NULL), gone = destroy_context(display, c);
        printf("%d %d %d %d\n", drawn, left, gone, terminate(display));
    }
    if (!strcmp(what, "contexts")) {  /* forty contexts, and what each of the later ones leaves */
        int good = 0;
        for (int i = 0; i < 20; i++) good += drawn_and_gone() == 102;
        long before = resident();
        for (int i = 0; i < 20; i++) good += drawn_and_gone() == 102;
        printf("%d %d\n", good, (resident() - before) / 20 < 100);
    }
    if (!strcmp(what, "speed")) {
        struct timespec a, b;
        for (int i = 0; i < 100; i++) depth_func(0x0201);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        for (int i = 0; i < 100000; i++) depth_func(0x0201);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        printf("%.3f\n", ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / 1e8);
    }
    return 0;
}

int main(int argc, char **argv) {
    start();
    for (int i = 1; i < argc; i++)
        if (run(argv[i])) return 1;
    return 0;
}
