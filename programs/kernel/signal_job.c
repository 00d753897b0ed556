// Stopping and continuing, and what the parent hears of it.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static volatile int codes[16], statuses[16], count;

static void notes(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    codes[count] = info->si_code;
    statuses[count++] = info->si_status;
}

static volatile int continued;
static void goes_on(int signal) {
    (void)signal;
    continued = 1;
}

static void until(int wanted) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &old);
    while (count < wanted) sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = notes, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGCHLD, &action, NULL);
    int pipes[2], ready[2];
    pipe(pipes);
    pipe(ready);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGCONT, goes_on);
        char byte;
        write(ready[1], "x", 1);
        while (read(pipes[0], &byte, 1) != 1) {}
        _exit(continued ? 8 : 9);
    }
    char byte;
    read(ready[0], &byte, 1);
    kill(pid, SIGTSTP);
    until(1);
    kill(pid, SIGCONT);
    until(2);
    kill(pid, SIGSTOP);
    until(3);
    // Sent while it is stopped: not handled before it goes on, but what continues it is not lost.
    kill(pid, SIGCONT);
    until(4);
    write(pipes[1], "x", 1);
    until(5);
    for (int i = 0; i < count; i++) printf("heard: code %d status %d\n", codes[i], statuses[i]);
    int status;
    waitpid(pid, &status, 0);
    printf("handler of SIGCONT ran: %#x\n", status);

    // SA_NOCLDSTOP: only the end is heard.
    action.sa_flags |= SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, NULL);
    count = 0;
    pid = fork();
    if (pid == 0) {
        raise(SIGSTOP);
        _exit(4);
    }
    waitpid(pid, &status, WUNTRACED);
    kill(pid, SIGCONT);
    until(1);
    waitpid(pid, &status, 0);
    printf("SA_NOCLDSTOP: %d code %d status %d\n", count, codes[0], statuses[0]);

    // What is sent to a stopped process waits until it goes on.
    pid = fork();
    if (pid == 0) {
        raise(SIGSTOP);
        _exit(4);
    }
    waitpid(pid, &status, WUNTRACED);
    kill(pid, SIGTERM);
    usleep(20000);
    show("stopped, sent SIGTERM", waitpid(pid, &status, WNOHANG));
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    printf("then continued: %#x\n", status);

    // A stop signal takes away a pending SIGCONT, and the other way round.
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    sigaddset(&set, SIGTSTP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGTSTP);
    sigpending(&pending);
    show("SIGTSTP pending", sigismember(&pending, SIGTSTP));
    raise(SIGCONT);
    sigpending(&pending);
    printf("then SIGCONT: %d %d\n", sigismember(&pending, SIGTSTP), sigismember(&pending, SIGCONT));
    signal(SIGCONT, goes_on);
    raise(SIGCONT);
    sigpending(&pending);
    show("SIGCONT pending", sigismember(&pending, SIGCONT));
    signal(SIGTSTP, SIG_IGN);
    raise(SIGTSTP);
    sigpending(&pending);
    printf("then SIGTSTP: %d %d\n", sigismember(&pending, SIGTSTP), sigismember(&pending, SIGCONT));
    return 0;
}
