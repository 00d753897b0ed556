// clone(2), clone3(2), vfork(2) and what they refuse.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static volatile int shared_word;
static volatile int parent_tid, child_tid, clear_tid = 77;

static int body(void *argument) {
    shared_word += (int)(intptr_t)argument;
    return 9;
}

static int tid_body(void *argument) {
    (void)argument;
    return child_tid == syscall(SYS_gettid) ? 0 : 1;
}

static int thread_body(void *argument) {
    (void)argument;
    shared_word = 100;
    syscall(SYS_exit, 0);
    return 0;
}

int main(void) {
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    char *top = stack + 65536;
    int status;

    pid_t pid = fork();
    if (pid == 0) {
        shared_word = 5;
        _exit(0);
    }
    waitpid(pid, &status, 0);
    show("fork copies", shared_word);

    pid = vfork();
    if (pid == 0) {
        shared_word = 6;
        _exit(3);
    }
    show("vfork shares", shared_word);
    waitpid(pid, &status, 0);
    show("vfork status", WEXITSTATUS(status));

    pid = clone(body, top, CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)4);
    show("CLONE_VM | CLONE_VFORK", shared_word);
    waitpid(pid, &status, 0);
    show("status", WEXITSTATUS(status));

    pid = clone(body, top, CLONE_VM | SIGCHLD, (void *)5);
    waitpid(pid, &status, 0);
    show("CLONE_VM", shared_word);

    pid = clone(body, top, 0, (void *)5);
    show("no exit signal, plain wait", waitpid(pid, &status, WNOHANG));
    show("no exit signal, __WCLONE", waitpid(pid, &status, __WCLONE) == pid);
    pid = clone(body, top, SIGUSR2, (void *)5);
    signal(SIGUSR2, SIG_IGN);
    show("other exit signal, __WALL", waitpid(pid, &status, __WALL) == pid);

    pid = clone(tid_body, top, CLONE_CHILD_SETTID | CLONE_PARENT_SETTID | SIGCHLD, NULL, &parent_tid, NULL, &child_tid);
    show("PARENT_SETTID", parent_tid == pid);
    show("CHILD_SETTID stays in the child", child_tid);
    waitpid(pid, &status, 0);
    show("CHILD_SETTID", WEXITSTATUS(status));

    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    clone(thread_body, top, flags, NULL, NULL, NULL, &clear_tid);
    while (clear_tid != 0) syscall(SYS_futex, &clear_tid, FUTEX_WAIT, 77, NULL, NULL, 0);
    show("CHILD_CLEARTID wakes", shared_word);
    show("a thread is no child", waitpid(-1, &status, WNOHANG));

    show("THREAD without SIGHAND", syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0));
    show("SIGHAND without VM", syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0));
    show("PIDFD nowhere", syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, 1, 0, 0));
    show("no child of that", waitpid(-1, NULL, WNOHANG));
    show("PIDFD with PARENT_SETTID", syscall(SYS_clone, CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD, 0, 0, 0, 0));
    struct clone_args args = {.exit_signal = SIGCHLD};
    show("clone3 too small", syscall(SYS_clone3, &args, 32));
    show("clone3 too large", syscall(SYS_clone3, &args, 8192));
    show("clone3 bad address", syscall(SYS_clone3, NULL, sizeof args));
    args.stack = (uintptr_t)stack;
    show("clone3 stack without size", syscall(SYS_clone3, &args, sizeof args));
    args.stack = 0;
    args.exit_signal = 65;
    show("clone3 bad signal", syscall(SYS_clone3, &args, sizeof args));
    args.exit_signal = SIGCHLD;
    args.flags = SIGCHLD;
    show("clone3 signal in flags", syscall(SYS_clone3, &args, sizeof args));
    int pidfd = -1;
    args.flags = CLONE_PIDFD;
    args.pidfd = (uintptr_t)&pidfd;
    pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0) {
        pause();
        _exit(1);
    }
    struct pollfd poll_one = {.fd = pidfd, .events = POLLIN};
    show("pidfd lives", poll(&poll_one, 1, 0));
    show("pidfd_send_signal", syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0));
    show("pidfd ends", poll(&poll_one, 1, -1));
    siginfo_t info = {0};
    show("waitid P_PIDFD", waitid(P_PIDFD, pidfd, &info, WEXITED));
    show("its signal", info.si_status);
    show("pidfd_send_signal, gone", syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0));
    show("pidfd_open bad flags", syscall(SYS_pidfd_open, getpid(), 1));
    show("pidfd_open bad pid", syscall(SYS_pidfd_open, 0, 0));
    show("pidfd_send_signal bad fd", syscall(SYS_pidfd_send_signal, 77, SIGTERM, NULL, 0));
    return 0;
}
