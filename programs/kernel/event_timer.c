// timerfd and signalfd.
#include "netcheck.h"
#include <sys/signalfd.h>
#include <sys/timerfd.h>

static void show_read(const char *name, int fd) {
    uint64_t value = 0;
    long count = read(fd, &value, 8);
    printf("%s: %ld %lu %s\n", name, count, (unsigned long)value, count == -1 ? strerrorname_np(errno) : "ok");
}

static void show_signal(const char *name, int fd) {
    struct signalfd_siginfo info = {0};
    long count = read(fd, &info, sizeof info);
    printf("%s: %ld signal %d code %d own %d int %d %s\n", name, count, info.ssi_signo, info.ssi_code,
           info.ssi_pid == getpid(), info.ssi_int, count == -1 ? strerrorname_np(errno) : "ok");
}

int main(void) {
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    show("close on exec", fcntl(fd, F_GETFD));
    show_read("not armed", fd);
    show_poll("poll not armed", fd);
    struct itimerspec setting = {{0, 0}, {0, 2000000}}, old;
    show("arm", timerfd_settime(fd, 0, &setting, NULL));
    show_read("not yet", fd);
    show("wait", poll(&(struct pollfd){fd, POLLIN, 0}, 1, -1));
    show_poll("poll fired", fd);
    show_read("fired", fd);
    show_read("once", fd);
    show("get", timerfd_gettime(fd, &old));
    show("disarmed", old.it_value.tv_sec + old.it_value.tv_nsec);
    setting = (struct itimerspec){{3, 500}, {1000, 0}};
    timerfd_settime(fd, 0, &setting, NULL);
    show("get", timerfd_gettime(fd, &old));
    printf("interval: %ld %ld\n", (long)old.it_interval.tv_sec, old.it_interval.tv_nsec);
    show("time left", old.it_value.tv_sec >= 998);
    setting = (struct itimerspec){{0, 0}, {0, 0}};
    show("disarm", timerfd_settime(fd, 0, &setting, &old));
    show("it had", old.it_value.tv_sec >= 998);
    show_read("nothing", fd);
    setting.it_value.tv_nsec = 2000000000;
    show("wrong time", timerfd_settime(fd, 0, &setting, NULL));
    setting.it_value = (struct timespec){-1, 0};
    show("negative time", timerfd_settime(fd, 0, &setting, NULL));
    setting.it_value = (struct timespec){1, 0};
    show("bad flags", timerfd_settime(fd, 0x80, &setting, NULL));
    show("bad address", timerfd_settime(fd, 0, (void *)8, NULL));
    show("in the past", timerfd_settime(fd, TFD_TIMER_ABSTIME, &setting, NULL));
    poll(&(struct pollfd){fd, POLLIN, 0}, 1, -1);
    show_read("at once", fd);
    show("no timer", timerfd_settime(0, 0, &setting, NULL));
    show("bad clock", timerfd_create(99, 0));
    show("bad flags", timerfd_create(CLOCK_MONOTONIC, 1));
    show("short read", read(fd, &(int){0}, 4));
    show("write", write(fd, "12345678", 8));
    int real = timerfd_create(CLOCK_REALTIME, 0);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_nsec += 2000000;
    if (now.tv_nsec >= 1000000000) now.tv_sec++, now.tv_nsec -= 1000000000;
    setting = (struct itimerspec){{0, 0}, now};
    timerfd_settime(real, TFD_TIMER_ABSTIME, &setting, NULL);
    show_read("wait for the real clock", real);
    setting = (struct itimerspec){{0, 1000000}, {0, 1000000}};
    timerfd_settime(real, 0, &setting, NULL);
    uint64_t ticks = 0, value;
    while (ticks < 3 && read(real, &value, 8) == 8) ticks += value;
    show("periodic", ticks >= 3);

    // Signals as data.
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGUSR2), sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_NONBLOCK);
    show("signalfd", fd >= 0);
    show_signal("nothing", fd);
    show_poll("poll nothing", fd);
    raise(SIGUSR2);
    kill(getpid(), SIGUSR1);
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 42});
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 43});
    show_poll("poll pending", fd);
    show_signal("first", fd);
    show_signal("second", fd);
    show_signal("third", fd);
    show_signal("fourth", fd);
    show_signal("no more", fd);
    sigemptyset(&set), sigaddset(&set, SIGUSR2);
    show("change", signalfd(fd, &set, 0) == fd);
    raise(SIGUSR1);
    show_signal("not of interest", fd);
    raise(SIGUSR2);
    struct signalfd_siginfo many[3];
    show("several at once", read(fd, many, sizeof many) / sizeof many[0]);
    show("short read", read(fd, many, 100));
    show("bad flags", signalfd(-1, &set, 1));
    show("not a signalfd", signalfd(0, &set, 0));
    int group = epoll_create1(0);
    watch(group, EPOLL_CTL_ADD, fd, EPOLLIN, 5);
    show_epoll("quiet", group, 4);
    raise(SIGUSR2);
    show_epoll("watched", group, 4);
    show_signal("taken", fd);
    show_epoll("quiet again", group, 4);
    return 0;
}
