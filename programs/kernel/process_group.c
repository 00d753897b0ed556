// Groups and sessions: setpgid(2), setsid(2), and who gets the children of the dead.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static void in_child(void (*body)(void)) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        body();
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("child: %#x\n", status);
}

static void groups(void) {
    pid_t self = getpid();
    show("own group", setpgid(0, 0));
    show("is leader", getpgrp() == self);
    show("again", setpgid(0, 0));
    show("negative group", setpgid(0, -1));
    show("no such process", setpgid(999999, 0));
    show("no such group", setpgid(0, 999999));
    show("not a child", setpgid(getppid(), 0));
    show("getpgid self", getpgid(0) == self);
    show("getpgid nobody", getpgid(999999));
    show("setsid as leader", setsid());
    pid_t pid = fork();
    if (pid == 0) {
        show("setsid", setsid() == getpid());
        show("session", getsid(0) == getpid());
        show("group", getpgrp() == getpid());
        show("setsid again", setsid());
        show("leader of a session moves", setpgid(0, getppid()));
        fflush(stdout);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    int pipes[2], ready[2];
    pipe(pipes);
    pipe(ready);
    pid = fork();
    char byte = 0;
    if (pid == 0) {
        setsid();
        write(ready[1], &byte, 1);
        read(pipes[0], &byte, 1);
        _exit(0);
    }
    read(ready[0], &byte, 1);
    show("child in another session", setpgid(pid, pid));
    show("getsid of a child", getsid(pid) == pid);
    write(pipes[1], &byte, 1);
    waitpid(pid, NULL, 0);
    show("getsid nobody", getsid(999999));
}

static void kills(void) {
    setpgid(0, 0);
    signal(SIGUSR1, SIG_IGN);
    pid_t one = fork();
    if (one == 0) for (;;) pause();
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR1, SIG_IGN);
    show("kill group", kill(0, SIGUSR1));
    show("killpg", killpg(getpgrp(), 0));
    show("kill nobody", kill(999999, 0));
    show("kill no group", kill(-999999, 0));
    show("kill bad signal", kill(getpid(), 65));
    show("kill negative signal", kill(getpid(), -1));
    kill(one, SIGTERM);
    siginfo_t info;
    waitid(P_PID, one, &info, WEXITED | WNOWAIT);
    show("kill a zombie", kill(one, SIGTERM));
    waitpid(one, NULL, 0);
    show("kill the reaped", kill(one, 0));
}

static void reapers(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int value = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &value);
    show("subreaper", value);
    int pipes[2];
    pipe(pipes);
    pid_t self = getpid();
    pid_t middle = fork();
    if (middle == 0) {
        if (fork() == 0) {
            char byte;
            close(pipes[1]);
            read(pipes[0], &byte, 1);
            _exit(getppid() == self ? 21 : 22);
        }
        _exit(1);
    }
    int status;
    waitpid(middle, &status, 0);
    close(pipes[1]);
    show("orphan comes to us", waitpid(-1, &status, 0) > 0);
    show("it saw us as parent", WEXITSTATUS(status));
}

static void death_signal(void) {
    int pipes[2];
    pipe(pipes);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t middle = fork();
    if (middle == 0) {
        int ready[2];
        pipe(ready);
        if (fork() == 0) {
            show("set", prctl(PR_SET_PDEATHSIG, SIGUSR1));
            int signal_number = 0;
            prctl(PR_GET_PDEATHSIG, &signal_number);
            show("get", signal_number);
            fflush(stdout);
            write(ready[1], "x", 1);
            for (;;) pause();
        }
        char byte;
        read(ready[0], &byte, 1);
        _exit(0);
    }
    int status;
    waitpid(middle, &status, 0);
    waitpid(-1, &status, 0);
    show("killed by the death of its parent", WTERMSIG(status));
    show("bad signal", prctl(PR_SET_PDEATHSIG, 65));
}

int main(void) {
    in_child(groups);
    in_child(kills);
    in_child(reapers);
    in_child(death_signal);
    return 0;
}
