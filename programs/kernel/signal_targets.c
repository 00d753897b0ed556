// Whom a number names: calls on processes take the number of any of their threads.
#include "filecheck.h"
#include <mqueue.h>
#include <pthread.h>

static pid_t tid, parent;
static int stop[2];
static volatile sig_atomic_t got, value;

static void note(int number, siginfo_t *info, void *context) {
    got = number;
    value = info->si_value.sival_int;
}

static void *stays(void *unused) {
    char byte;
    tid = gettid();
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    write(stop[1], "x", 1);
    pause();
    return NULL;
}

static void show_got(const char *name) {
    printf("%s: %d %d\n", name, got, value);
    got = value = 0;
}

static void from_child(void) {
    CHECK("getpgid", getpgid(tid) == getpgid(parent));
    CHECK("getsid", getsid(tid) == getsid(parent));
    CHECK("kill none", kill(tid, 0));
    CHECK("kill a group by it", kill(-tid, 0));
    siginfo_t info = {.si_code = SI_QUEUE};
    info.si_pid = getpid(), info.si_value.sival_int = 77;
    CHECK("sigqueue", syscall(SYS_rt_sigqueueinfo, tid, SIGUSR2, &info));
    CHECK("setpgid", setpgid(tid, 0));
    CHECK("waitpid", waitpid(tid, NULL, WNOHANG));
    CHECK("getpriority", getpriority(PRIO_PROCESS, tid));
    CHECK("sched_getscheduler", syscall(SYS_sched_getscheduler, tid));
    struct rlimit limit;
    CHECK("prlimit", prlimit(tid, RLIMIT_NOFILE, NULL, &limit));
    char path[64];
    sprintf(path, "/proc/%d/status", tid);
    CHECK_OK("its folder", open(path, O_RDONLY));
}

static void of_folders(void) {
    int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);
    CHECK("pidfd_send_signal to a folder", syscall(SYS_pidfd_send_signal, folder, SIGUSR1, NULL, 0));
    show_got("got");
    int other = open("/proc", O_RDONLY | O_DIRECTORY), path = open("/proc/self", O_PATH);
    CHECK("to another folder", syscall(SYS_pidfd_send_signal, other, SIGUSR1, NULL, 0));
    CHECK("to a path", syscall(SYS_pidfd_send_signal, path, SIGUSR1, NULL, 0));
}

static void queue_limits(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN), sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_SIGPENDING, &none);
    union sigval with = {.sival_int = 5};
    CHECK("sigqueue", sigqueue(getpid(), SIGRTMIN, with));
    CHECK("tgkill", tgkill(getpid(), gettid(), SIGRTMIN));
    CHECK("kill", kill(getpid(), SIGRTMIN));
    CHECK("tgkill of a standard signal", tgkill(getpid(), gettid(), SIGUSR1));
    CHECK("kill of a standard signal", kill(getpid(), SIGUSR1));
    sigset_t pending;
    sigpending(&pending);
    TELL("pending", sigismember(&pending, SIGRTMIN) * 2 + sigismember(&pending, SIGUSR1));
}

static void queues(void) {
    struct mq_attr size = {.mq_maxmsg = 3, .mq_msgsize = 8};
    mq_unlink("/allways-targets");
    mqd_t first = mq_open("/allways-targets", O_CREAT | O_RDWR, 0600, &size);
    mqd_t second = mq_open("/allways-targets", O_RDWR);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    event.sigev_value.sival_int = 9;
    CHECK("notify", mq_notify(first, &event));
    CHECK("notify twice", mq_notify(second, &event));
    CHECK("close another", mq_close(second));
    second = mq_open("/allways-targets", O_RDWR);
    CHECK("send", mq_send(second, "a", 1, 0));
    show_got("notified");
    char text[8];
    mq_receive(second, text, 8, NULL);
    mq_notify(first, &event);
    CHECK("close", mq_close(first));
    CHECK("send after closing", mq_send(second, "a", 1, 0));
    show_got("not notified");
    mq_receive(second, text, 8, NULL);
    CHECK("notify again", mq_notify(second, &event));
    int same = dup(second);
    close(same);
    mqd_t third = mq_open("/allways-targets", O_RDWR);
    mq_send(third, "a", 1, 0);
    show_got("after closing a duplicate");
    mq_unlink("/allways-targets");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    parent = getpid();
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &action, NULL), sigaction(SIGUSR2, &action, NULL);
    char byte;
    pipe(stop);
    pthread_t thread;
    pthread_create(&thread, NULL, stays, NULL);
    read(stop[0], &byte, 1);
    CHECK("kill", kill(tid, SIGUSR1));
    show_got("got");
    CHECK("getpgid", getpgid(tid) == getpgrp());
    in_child(from_child);
    while (!value)
        usleep(1000);
    show_got("last of them");
    of_folders();
    in_child(queue_limits);
    queues();
}
