/* What all random programs share; the programs follow, then the table PROGRAMS. The first argument says which one runs. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct wide { unsigned long x[3]; };
struct shared {
    unsigned char b[4]; /* four bytes of one word */
    unsigned short h[2];
    unsigned w[2];
    unsigned long q;
    atomic_uint a[2];
    unsigned flag;
    unsigned out[4]; /* what each has seen */
    atomic_int ids[4]; /* of threads or processes, once they run */
    struct wide wide[2];
    pthread_mutex_t m[2];
    pthread_cond_t c;
    pthread_rwlock_t rw;
    pthread_barrier_t bar;
    pthread_spinlock_t spin;
    sem_t sem;
    atomic_uint rust, parking;
};
static struct shared plain, *s = &plain;
static int pipes[2], pair[2], grams[2], sysv, messages, listener, file, event;
static int timer, epoll, zero, null;
static unsigned char *page; /* two of them */
static pthread_t first_thread;
static struct timespec soon;
static unsigned handled, begun;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(unsigned *) handed;
static struct sockaddr_in address, mailbox;
static int udp;

/* What a program needs beside memory. */
enum {
    PROCESSES = 1, PIPE = 2, PAIR = 4, TCP = 8, SYSV = 16, MAIN_WORKS = 32, FILE_ = 64, EVENT = 128,
    QUEUE = 256, DATAGRAM = 512, SIGNAL = 1024, RECURSIVE = 2048, CHECKED = 4096, ADAPTIVE = 1 << 13, INHERITED = 1 << 14,
    ROBUST = 1 << 15, PREFER_READER = 1 << 16, PREFER_WRITER = 1 << 17, WRITER_NONRECURSIVE = 1 << 18, PAGE = 1 << 19,
    BLOCKED = 1 << 20, ALARM = 1 << 21, TIMER = 1 << 22, EPOLL = 1 << 23, FIRST = 1 << 24,
    /* What main does with threads: detaches them, returns while they run, ends itself alone. */
    DETACHED = 1 << 25, RETURNS = 1 << 26, ENDS = 1 << 27,
    IDS = 1 << 28,
    /* Threads start as those of Rust do. */
    LIKE_RUST = 1 << 29,
    /* Another program, which may be executed and written. */
    TOOL = 1 << 30
};
#define UDP (1LL << 31)
struct program {
    long long needs;
    int count;
    unsigned (*parts[4])(void);
    int (*end)(void);
};
static const struct program *running;
#define V(x) (*(volatile __typeof__(x) *)&(x))

static unsigned get(int fd, int n) {
    unsigned char bytes[2] = { 0, 0 };
    return read(fd, bytes, n) == n ? bytes[0] + bytes[1] : 9;
}
static void put(int fd, unsigned value, int n) {
    unsigned char bytes[2] = { value, value };
    (void)!write(fd, bytes, n);
}
static unsigned look(int fd, short events) {
    struct pollfd one = { fd, events, 0 };
    return poll(&one, 1, 0) == 1;
}
static unsigned add(int number, int by, int flags) {
    struct sembuf op = { (unsigned short)number, (short)by, (short)flags };
    return semop(sysv, &op, 1) == 0;
}
static unsigned both(int by) {
    struct sembuf ops[2] = { { 0, (short)by, 0 }, { 1, (short)by, 0 } };
    return semop(sysv, ops, 2) == 0;
}
static unsigned dial(unsigned value) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) return 8;
    put(fd, value, 1);
    close(fd);
    return 1;
}
static unsigned ask(unsigned value) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    unsigned char byte = (unsigned char)value;
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) return 8;
    ssize_t sent = send(fd, &byte, 1, MSG_NOSIGNAL), got = read(fd, &byte, 1);
    close(fd);
    return sent != 1 ? 7 : got == 1 ? byte : got ? 6 : 5;
}
static unsigned answer(void) {
    int fd = accept(listener, 0, 0);
    unsigned got = get(fd, 1);
    close(fd);
    return got;
}
static unsigned mail(unsigned value) {
    unsigned char byte = (unsigned char)value;
    return sendto(udp, &byte, 1, 0, (struct sockaddr *)&mailbox, sizeof mailbox) != 1;
}
static unsigned collect(int flags) {
    unsigned char byte = 0;
    return recv(udp, &byte, 1, flags) == 1 ? byte : 7;
}
static unsigned child(unsigned (*part)(void)) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) _exit(part() & 7);
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}
/* Files: their content is a byte or two. */
static unsigned store(const char *name, int flags, unsigned value) {
    int fd = open(name, O_WRONLY | flags, 0600);
    if (fd < 0) return 5;
    put(fd, value, 1);
    close(fd);
    return 1;
}
static unsigned content(const char *name) {
    int fd = open(name, O_RDONLY);
    if (fd < 0) return 5;
    unsigned got = get(fd, 1);
    close(fd);
    return got;
}
static unsigned size(const char *name) {
    struct stat about;
    return stat(name, &about) ? 5 : (unsigned)about.st_size;
}
/* How many names are in a directory. */
static unsigned names(const char *directory) {
    char bytes[1024];
    long length, found = 0;
    int fd = open(directory, O_RDONLY | O_DIRECTORY);
    if (fd < 0) return 5;
    while ((length = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < length; at += *(unsigned short *)(bytes + at + 16)) found++;
    close(fd);
    return found;
}
static unsigned changed(const char *directory) {
    struct stat about;
    return stat(directory, &about) ? 5 : (unsigned)about.st_nlink;
}
static unsigned more(int fd) {
    unsigned char byte = 0;
    (void)!pread(fd, &byte, 1, 0);
    byte++;
    (void)!pwrite(fd, &byte, 1, 0);
    return byte;
}
static unsigned flocked(void) {
    int fd = open("x", O_RDWR | O_CREAT, 0600);
    flock(fd, LOCK_EX);
    unsigned got = more(fd);
    close(fd);
    return got;
}
static unsigned recorded(int how) {
    int fd = open("x", O_RDWR | O_CREAT, 0600);
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
    unsigned got = fcntl(fd, how, &lock) ? 6 : more(fd);
    close(fd);
    return got;
}
static unsigned counted(void) {
    eventfd_t value = 0;
    return eventfd_read(event, &value) ? 9 : (unsigned)value;
}
static unsigned post(long kind, unsigned value) {
    struct { long kind; unsigned char byte; } message = { kind, value };
    return msgsnd(messages, &message, 1, 0) == 0;
}
static unsigned receive(long kind, int flags) {
    struct { long kind; unsigned char byte; } message = { 0, 0 };
    return msgrcv(messages, &message, 1, kind, flags) == 1 ? message.byte : 7;
}
static void handle(int number) { handled++; }
static void first(void) { begun++; }
static void mask(int how) {
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    pthread_sigmask(how, &set, 0);
}
static unsigned cas(atomic_uint *a, unsigned from, unsigned to) {
    return atomic_compare_exchange_strong(a, &from, to);
}
static void copy_of_this(const char *name) {
    static char bytes[4096];
    int in = open("program", O_RDONLY), out = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    for (ssize_t length; (length = read(in, bytes, sizeof bytes)) > 0;)
        if (write(out, bytes, length) != length) exit(105);
    close(in), close(out);
}
static void set_up(const struct program *p) {
    int shared = p->needs & PROCESSES;
    pthread_mutexattr_t ma;
    pthread_condattr_t ca;
    pthread_rwlockattr_t ra;
    pthread_barrierattr_t ba;
    if (shared) s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&ma), pthread_mutexattr_setpshared(&ma, !!shared);
    pthread_condattr_init(&ca), pthread_condattr_setpshared(&ca, !!shared);
    pthread_rwlockattr_init(&ra), pthread_rwlockattr_setpshared(&ra, !!shared);
    pthread_barrierattr_init(&ba), pthread_barrierattr_setpshared(&ba, !!shared);
    pthread_mutex_init(&s->m[0], &ma);
    if (p->needs & RECURSIVE) pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_RECURSIVE);
    if (p->needs & CHECKED) pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_ERRORCHECK);
    if (p->needs & ADAPTIVE) pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_ADAPTIVE_NP);
    if (p->needs & INHERITED) pthread_mutexattr_setprotocol(&ma, PTHREAD_PRIO_INHERIT);
    if (p->needs & ROBUST) pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&s->m[1], &ma);
    if (p->needs & PREFER_READER) pthread_rwlockattr_setkind_np(&ra, PTHREAD_RWLOCK_PREFER_READER_NP);
    if (p->needs & PREFER_WRITER) pthread_rwlockattr_setkind_np(&ra, PTHREAD_RWLOCK_PREFER_WRITER_NP);
    if (p->needs & WRITER_NONRECURSIVE) pthread_rwlockattr_setkind_np(&ra, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_cond_init(&s->c, &ca);
    pthread_rwlock_init(&s->rw, &ra);
    pthread_barrier_init(&s->bar, &ba, 2);
    pthread_spin_init(&s->spin, !!shared);
    sem_init(&s->sem, !!shared, 0);
    if (p->needs & PIPE && pipe(pipes)) exit(100);
    if (p->needs & PAIR && socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) exit(101);
    if (p->needs & DATAGRAM && socketpair(AF_UNIX, SOCK_DGRAM, 0, grams)) exit(103);
    if (p->needs & FILE_ && (file = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600)) < 0) exit(104);
    if (p->needs & TOOL) copy_of_this("tool");
    if (p->needs & EVENT) event = eventfd(0, 0);
    if (p->needs & QUEUE) messages = msgget(IPC_PRIVATE, 0600);
    if (p->needs & SIGNAL) {
        struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
        sigaction(SIGUSR1, &action, 0);
    }
    if (p->needs & BLOCKED) mask(SIG_BLOCK);
    if (p->needs & ALARM) signal(SIGALRM, handle);
    if (p->needs & TIMER) timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (p->needs & PAGE) {
        int kind = shared ? MAP_SHARED : MAP_PRIVATE;
        page = mmap(0, 8192, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
        zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
    }
    if (p->needs & EPOLL) {
        struct epoll_event event = { EPOLLIN, { 0 } };
        epoll = epoll_create1(0);
        epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event);
    }
    if (p->needs & FIRST) first_thread = pthread_self();
    clock_gettime(CLOCK_REALTIME, &soon), soon.tv_sec++;
    if (p->needs & SYSV) sysv = semget(IPC_PRIVATE, 2, 0600);
    if (p->needs & UDP) {
        socklen_t length = sizeof mailbox;
        udp = socket(AF_INET, SOCK_DGRAM, 0);
        mailbox.sin_family = AF_INET;
        mailbox.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (bind(udp, (struct sockaddr *)&mailbox, sizeof mailbox)) exit(105);
        getsockname(udp, (struct sockaddr *)&mailbox, &length);
    }
    if (p->needs & TCP) {
        socklen_t length = sizeof address;
        listener = socket(AF_INET, SOCK_STREAM, 0);
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4)) exit(102);
        getsockname(listener, (struct sockaddr *)&address, &length);
    }
}
static void *run(void *number) {
    if (running->needs & IDS) atomic_store(&s->ids[(long)number], running->needs & PROCESSES ? getpid() : gettid());
    s->out[(long)number] = running->parts[(long)number]();
    return 0;
}
void *rust_start(void *boxed) __asm__("_ZN3std3sys6thread4unix6Thread3new12thread_start17h0123456789abcdefE");
static void start(pthread_t *thread, long number) {
    if (!(running->needs & LIKE_RUST)) {
        pthread_create(thread, 0, run, (void *)number);
        return;
    }
    long *boxed = malloc(sizeof *boxed);
    *boxed = number;
    pthread_create(thread, 0, rust_start, boxed);
}
static void with_threads(const struct program *p) {
    pthread_t threads[4];
    long works = p->needs & MAIN_WORKS ? 1 : 0;
    for (long i = works; i < p->count; i++) {
        start(&threads[i], i);
        if (p->needs & DETACHED) pthread_detach(threads[i]);
    }
    if (works) run(0);
    if (p->needs & ENDS) pthread_exit(0);
    if (p->needs & RETURNS) return;
    for (long i = works; i < p->count; i++) pthread_join(threads[i], 0);
}
static void with_processes(const struct program *p) {
    pid_t pids[4];
    long works = p->needs & MAIN_WORKS ? 1 : 0;
    for (long i = works; i < p->count; i++)
        if ((pids[i] = fork()) == 0) {
            run((void *)i);
            _exit(0);
        }
    if (works) run(0);
    if (p->needs & RETURNS) return;
    for (long i = works; i < p->count; i++) waitpid(pids[i], 0, 0);
}
extern const struct program programs[];
int main(int argc, char **argv) {
    if (argc > 2) return atoi(argv[2]);
    close_range(3, ~0U, 0); /* Whoever starts it may have left some open, and programs count them. */
    running = &programs[argc > 1 ? atoi(argv[1]) : 0];
    set_up(running);
    (running->needs & PROCESSES ? with_processes : with_threads)(running);
    return running->end();
}
