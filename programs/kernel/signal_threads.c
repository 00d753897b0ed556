// Which thread gets a signal.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile pid_t handled_by;
static volatile int got;
static int ready[2], answer[2];

static void handles(int signal) {
    // First who, then that: main looks at both as soon as it sees the second.
    handled_by = syscall(SYS_gettid);
    got = signal;
}

static void *open_thread(void *argument) {
    sigset_t *set = argument;
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
    pid_t self = syscall(SYS_gettid);
    write(ready[1], &self, sizeof self);
    char byte;
    while (read(answer[0], &byte, 1) != 1) {}
    return NULL;
}

static void *waiting_thread(void *argument) {
    sigset_t *set = argument;
    pid_t self = syscall(SYS_gettid);
    write(ready[1], &self, sizeof self);
    siginfo_t info;
    return (void *)(long)sigwaitinfo(set, &info);
}

int main(void) {
    pipe(ready);
    pipe(answer);
    struct sigaction action = {.sa_handler = handles, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pid_t other;
    pthread_t thread;

    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, open_thread, &set);
    read(ready[0], &other, sizeof other);
    kill(getpid(), SIGUSR1);
    while (!got) sched_yield();
    printf("the one that does not block: %d\n", handled_by == other);
    got = 0;
    pthread_kill(pthread_self(), SIGUSR1);
    sigset_t pending;
    sigpending(&pending);
    printf("sent to a thread that blocks: pending %d handled %d\n", sigismember(&pending, SIGUSR1), got);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("unblocked: %d by main %d\n", got, handled_by == getpid());
    got = 0;
    kill(getpid(), SIGUSR1);
    while (!got) sched_yield();
    printf("main first: %d\n", handled_by == getpid());
    got = 0;
    pthread_kill(thread, SIGUSR1);
    while (!got) sched_yield();
    printf("by name: %d\n", handled_by == other);
    write(answer[1], "x", 1);
    pthread_join(thread, NULL);
    printf("kill a thread that is gone: %s\n", syscall(SYS_tgkill, getpid(), other, 0) == -1 ? strerrorname_np(errno) : "ok");

    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, waiting_thread, &set);
    read(ready[0], &other, sizeof other);
    kill(getpid(), SIGUSR1);
    void *result;
    pthread_join(thread, &result);
    printf("sigwaitinfo in a thread: %ld\n", (long)result);
    return 0;
}
