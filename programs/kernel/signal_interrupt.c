// Signals that interrupt calls: EINTR, restart, partial progress, remaining time.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static volatile int count;
static int pipes[2];

static void counts(int signal) {
    (void)signal;
    count++;
}

static void feeds(int signal) {
    (void)signal;
    count++;
    if (write(pipes[1], "x", 1) != 1) abort();
}

static void set(void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(SIGALRM, &action, NULL);
}

static void alarm_soon(void) {
    struct itimerval soon = {.it_value = {0, 50000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

int main(void) {
    char byte;
    pipe(pipes);
    set(counts, 0);
    alarm_soon();
    show("read without SA_RESTART", read(pipes[0], &byte, 1));
    set(feeds, SA_RESTART);
    alarm_soon();
    show("read with SA_RESTART", read(pipes[0], &byte, 1));
    set(counts, SA_RESTART);
    alarm_soon();
    show("pause", pause());
    alarm_soon();
    struct timespec long_time = {100, 0}, left = {0, 0};
    show("nanosleep", nanosleep(&long_time, &left));
    printf("left: %d\n", left.tv_sec == 99);
    alarm_soon();
    left.tv_sec = 0;
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, &left);
    show("clock_nanosleep", errno ? -1 : 0);
    printf("left: %d\n", left.tv_sec == 99);
    alarm_soon();
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    left.tv_sec = 7;
    errno = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, &left);
    show("clock_nanosleep absolute", errno ? -1 : 0);
    printf("left untouched: %d\n", left.tv_sec == 7);
    alarm_soon();
    show("poll", poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, 100000));
    alarm_soon();
    struct timeval long_value = {100, 0};
    show("select", select(0, NULL, NULL, NULL, &long_value));

    sigset_t blocked, empty;
    sigemptyset(&empty);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    count = 0;
    raise(SIGALRM);
    show("blocked", count);
    show("sigsuspend", sigsuspend(&empty));
    show("handled in it", count);
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    show("mask is back", sigismember(&now, SIGALRM));
    raise(SIGALRM);
    show("ppoll with mask", ppoll(NULL, 0, &long_time, &empty));
    show("handled in it", count);
    raise(SIGALRM);
    write(pipes[1], "x", 1);
    show("ppoll with something ready", ppoll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, &long_time, &empty));
    show("not handled then", count);
    read(pipes[0], &byte, 1);
    siginfo_t info;
    show("sigwaitinfo", sigwaitinfo(&blocked, &info));
    struct timespec short_time = {0, 1000000};
    show("sigtimedwait", sigtimedwait(&blocked, &info, &short_time));
    struct timespec bad_time = {0, 1000000000};
    show("sigtimedwait bad time", sigtimedwait(&blocked, &info, &bad_time));
    alarm_soon();
    show("sigwaitinfo waits", sigwaitinfo(&blocked, &info));
    printf("code %d\n", info.si_code);
    sigset_t other;
    sigemptyset(&other);
    sigaddset(&other, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    alarm_soon();
    show("sigwaitinfo interrupted by another", sigwaitinfo(&other, &info));

    // wait4 restarts; a write that has begun gives back its progress.
    pid_t pid = fork();
    if (pid == 0) {
        usleep(150000);
        _exit(6);
    }
    int status;
    count = 0;
    alarm_soon();
    show("wait4 with SA_RESTART", waitpid(pid, &status, 0) == pid);
    printf("handled %d code %d\n", count, WEXITSTATUS(status));
    set(counts, 0);
    pid = fork();
    if (pid == 0) {
        usleep(150000);
        _exit(6);
    }
    alarm_soon();
    show("wait4 without SA_RESTART", waitpid(pid, &status, 0));
    waitpid(pid, &status, 0);
    char *block = calloc(1, 200000);
    alarm_soon();
    show("write gives back its progress", write(pipes[1], block, 200000));

    // An ignored signal interrupts nothing.
    set(SIG_IGN, 0);
    alarm_soon();
    struct timespec middle = {0, 100000000};
    show("ignored", nanosleep(&middle, NULL));
    // Neither does a stop and continue.
    pid = fork();
    if (pid == 0) {
        int result = nanosleep(&(struct timespec){0, 300000000}, NULL);
        _exit(result == 0 ? 0 : 1);
    }
    usleep(50000);
    kill(pid, SIGSTOP);
    waitpid(pid, &status, WUNTRACED);
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    printf("sleep over a stop: %#x\n", status);
    return 0;
}
