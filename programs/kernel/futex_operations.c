// futex(2) by hand.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static long futex(volatile void *word, int operation, uint32_t value, const void *fourth, volatile void *second,
                  uint32_t last) {
    return syscall(SYS_futex, word, operation, value, fourth, second, last);
}

static volatile uint32_t one, two;
static volatile int woken[8], woken_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct waiter {
    int number;
    int operation;
    uint32_t bits;
    volatile uint32_t *word;
    pid_t tid;
    long result;
    pthread_t thread;
};

static void *waits(void *argument) {
    struct waiter *waiter = argument;
    waiter->tid = syscall(SYS_gettid);
    waiter->result = futex(waiter->word, waiter->operation, 0, NULL, NULL, waiter->bits);
    pthread_mutex_lock(&lock);
    woken[woken_count++] = waiter->number;
    pthread_mutex_unlock(&lock);
    return NULL;
}

// Until a thread sleeps: its state in /proc is the only way to know.
static void until_asleep(struct waiter *waiter) {
    for (;;) {
        char path[64], text[256] = "";
        pid_t tid = *(volatile pid_t *)&waiter->tid;
        if (tid != 0) {
            snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
            FILE *file = fopen(path, "r");
            if (file) {
                fread(text, 1, 255, file);
                fclose(file);
                char *state = strrchr(text, ')');
                if (state && state[2] == 'S') return;
            }
        }
        usleep(1000);
    }
}

static void start(struct waiter *waiters, int count, int operation, const uint32_t *bits, volatile uint32_t *word) {
    woken_count = 0;
    for (int i = 0; i < count; i++) {
        waiters[i] = (struct waiter){.number = i, .operation = operation, .bits = bits ? bits[i] : 0, .word = word};
        pthread_create(&waiters[i].thread, NULL, waits, &waiters[i]);
        until_asleep(&waiters[i]);
    }
}

static void join(struct waiter *waiter, const char *name) {
    pthread_join(waiter->thread, NULL);
    printf("%s: waiter %d got %ld\n", name, waiter->number, waiter->result);
}

static void nothing(int signal) { (void)signal; }

int main(void) {
    struct waiter waiters[4];
    show("wait with another value", futex(&one, FUTEX_WAIT, 1, NULL, NULL, 0));
    show("wake nobody", futex(&one, FUTEX_WAKE, 1, NULL, NULL, 0));
    struct timespec soon = {0, 1000000}, bad = {0, 1000000000}, negative = {-1, 0};
    show("time out", futex(&one, FUTEX_WAIT, 0, &soon, NULL, 0));
    show("bad time", futex(&one, FUTEX_WAIT, 0, &bad, NULL, 0));
    show("negative time", futex(&one, FUTEX_WAIT, 0, &negative, NULL, 0));
    show("absolute time has passed", futex(&one, FUTEX_WAIT_BITSET, 0, &soon, NULL, ~0u));
    show("absolute real time has passed", futex(&one, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &soon, NULL, ~0u));
    show("no bits to wait", futex(&one, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0));
    show("no bits to wake", futex(&one, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
    show("misaligned", futex((char *)&one + 1, FUTEX_WAKE, 1, NULL, NULL, 0));
    show("private wake nowhere", futex((void *)4096, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
    show("shared wake nowhere", futex((void *)4096, FUTEX_WAKE, 1, NULL, NULL, 0));
    show("wait nowhere", futex((void *)4096, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0));
    show("wake with a clock", futex(&one, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1, NULL, NULL, 0));
    show("no such operation", futex(&one, 99, 1, NULL, NULL, 0));
    show("FUTEX_FD is gone", futex(&one, FUTEX_FD, 0, NULL, NULL, 0));

    start(waiters, 3, FUTEX_WAIT_PRIVATE, NULL, &one);
    show("shared wake does not meet private waits", futex(&one, FUTEX_WAKE, 10, NULL, NULL, 0));
    show("wake one", futex(&one, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
    join(&waiters[0], "first come");
    show("wake the rest", futex(&one, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
    join(&waiters[1], "rest");
    join(&waiters[2], "rest");

    uint32_t bits[] = {1, 2, 6};
    start(waiters, 3, FUTEX_WAIT_BITSET_PRIVATE, bits, &one);
    show("wake by bits", futex(&one, FUTEX_WAKE_BITSET_PRIVATE, 10, NULL, NULL, 4));
    join(&waiters[2], "bit 4");
    show("plain wake wakes any bits", futex(&one, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
    join(&waiters[0], "any");
    join(&waiters[1], "any");

    start(waiters, 4, FUTEX_WAIT_PRIVATE, NULL, &one);
    show("compare fails", futex(&one, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)1, &two, 5));
    show("negative count", futex(&one, FUTEX_CMP_REQUEUE_PRIVATE, -1, (void *)1, &two, 0));
    show("wake one, move two", futex(&one, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)2, &two, 0));
    join(&waiters[0], "woken");
    show("left behind", futex(&one, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
    join(&waiters[3], "left");
    show("moved", futex(&two, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
    join(&waiters[1], "moved");
    join(&waiters[2], "moved");
    start(waiters, 1, FUTEX_WAIT_PRIVATE, NULL, &one);
    show("plain requeue, none woken", futex(&one, FUTEX_REQUEUE_PRIVATE, 0, (void *)10, &two, 0));
    show("moved", futex(&two, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
    join(&waiters[0], "moved");

    start(waiters, 2, FUTEX_WAIT_PRIVATE, NULL, &one);
    two = 5;
    show("wake op, condition fails", futex(&two, FUTEX_WAKE_OP_PRIVATE, 1, (void *)10, &one,
                                            FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_GT, 0)));
    show("but the word has changed", one);
    show("wake op, condition holds", futex(&two, FUTEX_WAKE_OP_PRIVATE, 1, (void *)10, &one,
                                            FUTEX_OP(FUTEX_OP_SET, -1, FUTEX_OP_CMP_EQ, 3)));
    printf("signed argument: %d\n", (int)one);
    join(&waiters[0], "op");
    join(&waiters[1], "op");
    one = 0xf0;
    futex(&two, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &one, FUTEX_OP(FUTEX_OP_ANDN, 0x30, FUTEX_OP_CMP_EQ, 0));
    show("and not", one);
    futex(&two, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &one,
          FUTEX_OP(FUTEX_OP_OR | FUTEX_OP_OPARG_SHIFT, 3, FUTEX_OP_CMP_EQ, 0));
    show("or with shift", one);
    futex(&two, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &one, FUTEX_OP(FUTEX_OP_XOR, 0xff, FUTEX_OP_CMP_EQ, 0));
    show("xor", one);

    // A signal interrupts; with SA_RESTART a wait without time goes on, one with time does not.
    struct itimerval alarm_soon = {.it_value = {0, 20000}};
    struct timespec longer = {100, 0};
    one = 0;
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &alarm_soon, NULL);
    show("interrupted", futex(&one, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &alarm_soon, NULL);
    show("interrupted with time", futex(&one, FUTEX_WAIT_PRIVATE, 0, &longer, NULL, 0));

    // Between processes: by what is mapped, not by where.
    volatile uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        volatile uint32_t *moved = mremap((void *)shared, 0, 4096, MREMAP_MAYMOVE);
        long result = 0;
        while (moved[1] == 0) result = futex(&moved[1], FUTEX_WAIT, 0, NULL, NULL, 0);
        (void)result;
        _exit(7);
    }
    usleep(30000);
    shared[1] = 1;
    futex(&shared[1], FUTEX_WAKE, 1, NULL, NULL, 0);
    int status;
    waitpid(pid, &status, 0);
    show("woken in another process", WEXITSTATUS(status));
    return 0;
}
