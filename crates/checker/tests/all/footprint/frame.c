/* Two actors, each of which makes one call that the schedule chooses, on objects that they share. CALLS follow. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sched.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <grp.h>

struct shared {
    long out[2];
    atomic_uint word[2];
    unsigned plain[2];
    pthread_mutex_t m, robust;
    pthread_cond_t c;
    pthread_rwlock_t rw;
    pthread_barrier_t bar;
    pthread_spinlock_t spin;
    sem_t sem;
    atomic_uint rust, parking;
    atomic_int ids[2];
    void *block;
};
static struct shared *s;
static int chooser[2][BITS + 1][2], pipes[2], pair[2], file, event, timer, epoll, listener, sysv, messages, old;
static unsigned char *page;
static struct sockaddr_in address;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned handled, begun;
static char bytes[2][64];
static pid_t other_process;
static struct timespec past;
static void first(void) { begun++; }
static void handle(int number) { handled++; }
static pthread_t third;
static sem_t never;
static void *idle(void *argument) {
    sem_wait(&never);
    return 0;
}
static sigset_t only(int number) {
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, number);
    return set;
}
/* What a file shows, as a number. */
static long looked(const char *name) {
    char text[512];
    int fd = open(name, O_RDONLY), length = fd < 0 ? 0 : read(fd, text, sizeof text);
    long sum = fd < 0 ? -1 : length;
    for (int at = 0; at < length; at++) sum = sum * 31 + text[at];
    if (fd >= 0) close(fd);
    return sum;
}
/* A file of the other one in /proc. */
static const char *name(int me, const char *file) {
    static char path[2][64];
    snprintf(path[me], 64, "/proc/%d%s", s->ids[!me], file);
    return path[me];
}
typedef long (*call)(int me);
extern const call calls[];

/* A read of two bytes may return one: that is a choice. Another read follows, so that the call is part of no choice. */
static void act(int me) {
    int chosen = 0;
    for (int bit = 0; bit < BITS; bit++) chosen |= (read(chooser[me][bit][0], bytes[me], 2) - 1) << bit;
    (void)!read(chooser[me][BITS][0], bytes[me], 1);
    s->out[me] = calls[chosen](me);
    for (;;) (void)!read(chooser[me][BITS][0], bytes[me], 1);
}
static void *run(void *me) {
    atomic_store(&s->ids[(long)me], ID);
    act((long)me);
    return 0;
}
static void set_up(void) {
    pthread_mutexattr_t ma;
    pthread_condattr_t ca;
    pthread_rwlockattr_t ra;
    pthread_barrierattr_t ba;
    struct sigaction action = { .sa_handler = handle };
    struct epoll_event wanted = { EPOLLIN, { 0 } };
    socklen_t length = sizeof address;
    s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    page = mmap(0, 8192, PROT_READ | PROT_WRITE, PAGES | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&ma), pthread_mutexattr_setpshared(&ma, 1);
    pthread_condattr_init(&ca), pthread_condattr_setpshared(&ca, 1);
    pthread_rwlockattr_init(&ra), pthread_rwlockattr_setpshared(&ra, 1);
    pthread_barrierattr_init(&ba), pthread_barrierattr_setpshared(&ba, 1);
    pthread_mutex_init(&s->m, &ma), pthread_cond_init(&s->c, &ca), pthread_rwlock_init(&s->rw, &ra);
    pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST), pthread_mutex_init(&s->robust, &ma);
    pthread_barrier_init(&s->bar, &ba, 2), pthread_spin_init(&s->spin, 1), sem_init(&s->sem, 1, 1);
    for (int me = 0; me < 2; me++)
        for (int bit = 0; bit <= BITS; bit++)
            (void)!pipe(chooser[me][bit]), (void)!write(chooser[me][bit][1], "ab", 1 + (bit < BITS));
    (void)!pipe(pipes), (void)!write(pipes[1], "ab", 2);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair), (void)!write(pair[1], "cd", 2);
    file = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600), (void)!write(file, "efgh", 4), lseek(file, 1, SEEK_SET);
    close(open("x", O_RDWR | O_CREAT, 0600)), mkdir("d", 0700), old = open("d", O_RDONLY);
    event = eventfd(1, EFD_NONBLOCK), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    epoll = epoll_create1(0), epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted);
    sysv = semget(IPC_PRIVATE, 2, 0600), messages = msgget(IPC_PRIVATE, 0600);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK), bind(listener, (void *)&address, sizeof address);
    listen(listener, 2), getsockname(listener, (void *)&address, &length);
    sigaction(SIGUSR1, &action, 0), signal(SIGPIPE, SIG_IGN);
    s->block = malloc(24), third = pthread_self();
}
/* Somebody else is always there: who is alone takes longer steps. */
int main(void) {
    if ((other_process = fork()) == 0)
        for (;;) pause();
    if (fork())
        for (;;) pause();
    set_up();
#ifdef THREADS
    pthread_t thread;
    pthread_create(&third, 0, idle, 0);
    pthread_create(&thread, 0, run, (void *)1L);
    run(0);
#else
    run((void *)(long)(fork() == 0));
#endif
}
