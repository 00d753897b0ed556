/* What threads and processes do to each other who did not ask for it. */
#define PROCESSED (!!(running->needs & PROCESSES))

static void on_leaving(void) { atexit(first); }
static void pause_once(void) { struct timespec moment = { 0, 1000 }; nanosleep(&moment, 0); }
static void become_one(const char *path, unsigned code) {
    char text[4] = { '0' + code, 0 }, *arguments[] = { "program", "-", text, 0 };
    execv(path, arguments);
}
static void become(unsigned code) { become_one("./program", code); }
/* A signal for another, once it runs. */
static unsigned hit(int other, int number) {
    int id = atomic_load(&s->ids[other]);
    if (!id) return 4;
    return PROCESSED ? kill(id, number) != 0 : syscall(SYS_tgkill, getpid(), id, number) != 0;
}
static void adds(int number) { handled++, s->w[0] += 2; }
/* A handler that leaves what it interrupts, where that can be left; what is found behind it. */
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t can_jump;
static void jumps(int number) { handled++; if (can_jump) can_jump = 0, siglongjmp(back, 1); }
#define JUMPS(...) if (!sigsetjmp(back, 1)) { can_jump = 1; __VA_ARGS__ can_jump = 0; } \
    else r += 1 + 3 * V(s->w[0]) + 5 * V(s->w[1]);
static void copies(int number) { s->w[1] = V(s->w[0]); }
static void posts(int number) { handled++, sem_post(&s->sem); }
static void stores(int number) { atomic_store(&s->a[0], 3); }
static unsigned waiting(void) {
    sigset_t set;
    return sigpending(&set) == 0 && sigismember(&set, SIGUSR1);
}
static void suspend(void) {
    sigset_t set;
    sigemptyset(&set), sigsuspend(&set);
}
/* Only where time began in 2025: the clock of the host is left alone. */
static unsigned set_clock(int seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec > 1760000000) return 0;
    now.tv_sec += seconds;
    return clock_settime(CLOCK_REALTIME, &now) == 0;
}
static unsigned went(clockid_t clock) {
    struct timespec one, other;
    clock_gettime(clock, &one), clock_gettime(clock, &other);
    return other.tv_sec > one.tv_sec ? 1 : other.tv_sec < one.tv_sec ? 2 : 0;
}
static unsigned slept(void) {
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &soon, 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - began.tv_sec > 1;
}
static unsigned taken(void) {
    sigset_t set;
    int number = 0;
    sigemptyset(&set), sigaddset(&set, SIGUSR1), sigwait(&set, &number);
    return number == SIGUSR1;
}
/* Pages that come and go. */
static unsigned filled(void *at) { return read(zero, at, 4) != 4; }
static unsigned writable(void *at) { return write(null, at, 4) == 4; }
static void renew(int flags) {
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}
static unsigned moved(void) {
    unsigned char *to = page + 4096;
    return mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
}
static unsigned robust(void) {
    int how = pthread_mutex_lock(&s->m[1]);
    if (how == EOWNERDEAD) pthread_mutex_consistent(&s->m[1]);
    return how == EOWNERDEAD ? 2 : how != 0;
}
static unsigned level(void) {
    int value = 0;
    return sem_getvalue(&s->sem, &value) == 0 ? (unsigned)value : 9;
}
static void in_a_second(int which) {
    if (which >= 0) {
        struct itimerval value = { { 0, 0 }, { 1, 0 } };
        setitimer(which, &value, 0);
        return;
    }
    struct itimerspec value = { { 0, 0 }, { 1, 0 } };
    timer_t id;
    if (timer_create(CLOCK_MONOTONIC, 0, &id) == 0) timer_settime(id, 0, &value, 0);
}
static void set_timer(unsigned seconds) {
    struct itimerspec value = { { 0, 0 }, { seconds, 0 } };
    timerfd_settime(timer, 0, &value, 0);
}
static unsigned ticked(void) {
    unsigned long times = 0;
    return read(timer, &times, 8) == 8 ? (unsigned)times : 9;
}
static unsigned polled(int fd, int wait) {
    struct pollfd one = { fd, POLLIN, 0 };
    return poll(&one, 1, wait) == 1 ? 1 + (one.revents == POLLIN) : 0;
}
static unsigned selected(int fd) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    struct timeval now = { 0, 0 };
    return select(fd + 1, &set, 0, 0, &now) == 1;
}
static unsigned ready(int wait) {
    struct epoll_event event;
    return epoll_wait(epoll, &event, 1, wait) == 1;
}
/* Children. */
static unsigned end_of(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) return 6;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}
static unsigned forked(unsigned value) {
    pid_t pid = fork();
    if (pid == 0) {
        atomic_fetch_add(&s->a[0], value);
        _exit(value);
    }
    return end_of(pid);
}
static unsigned forked_unlocks(unsigned value) {
    pid_t pid = fork();
    if (pid == 0) {
        pthread_mutex_unlock(&s->m[0]);
        _exit(value);
    }
    return end_of(pid);
}
static unsigned forked_locks(unsigned value) {
    pid_t pid = fork();
    if (pid == 0) {
        unsigned got = pthread_mutex_trylock(&s->m[0]) == 0;
        if (got) pthread_mutex_unlock(&s->m[0]);
        _exit(got ? value : 0);
    }
    return end_of(pid);
}
static void left_alone(unsigned value) {
    if (fork() == 0) _exit(value);
}
static unsigned vforked(unsigned value) {
    pid_t pid = vfork();
    if (pid == 0) {
        atomic_fetch_add(&s->a[0], value);
        _exit(value);
    }
    return end_of(pid);
}
static unsigned spawned(unsigned value) {
    pid_t pid = vfork();
    if (pid == 0) {
        become(value);
        _exit(7);
    }
    return end_of(pid);
}
static unsigned used(unsigned value) {
    pid_t pid = vfork();
    if (pid == 0) {
        become_one("./tool", value);
        _exit(errno == ETXTBSY ? 6 : 7);
    }
    return end_of(pid);
}
static unsigned opened(const char *name) {
    int fd = open(name, O_WRONLY);
    if (fd >= 0) close(fd);
    return fd >= 0;
}
static void spawned_alone(unsigned value) {
    if (vfork() == 0) {
        if (value > 1) become(value);
        _exit(value);
    }
}
static unsigned reaped(int how) {
    int status = 0;
    return waitpid(-1, &status, how) > 0 ? 1 + WEXITSTATUS(status) : 0;
}
/* Copies of several words. */
static void strings(struct wide *to, const struct wide *from) {
    unsigned long count = sizeof *to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}
static void quads(struct wide *to, const struct wide *from) {
    __asm__ volatile("movsq\n movsq" : "+D"(to), "+S"(from) : : "memory");
}
static void sse(struct wide *to, const struct wide *from) {
    __asm__ volatile("movups (%1), %%xmm0\n movups %%xmm0, (%0)" : : "r"(to), "r"(from) : "memory", "xmm0");
}
/* By the library: what others store meanwhile is in it or not, word by word. */
static void written(void) {
    FILE *out = fopen("out", "w");
    if (!out) return;
    fwrite((void *)s->a, 4, 2, out);
    fclose(out);
}
static unsigned copied(void) {
    unsigned copy[2];
    memcpy(copy, (void *)s->a, sizeof copy);
    return copy[0] + 3 * copy[1];
}
/* All that anybody can see. */
static int seen(void) {
    return (s->out[0] + 5 * s->out[1] + 25 * s->out[2] + 3 * s->a[0] + 11 * s->a[1] + 59 * s->w[0] + 7 * s->w[1] +
            13 * handled + 17 * begun + 31 * s->flag) % 251;
}
