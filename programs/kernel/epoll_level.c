// epoll: sets, levels, one shot, order, errors.
#include "netcheck.h"

static void *later(void *fd) {
    usleep(3000);
    eventfd_write(*(int *)fd, 1);
    return NULL;
}

int main(void) {
    int set = epoll_create1(EPOLL_CLOEXEC), pair[2];
    show("create", set >= 0);
    show("close on exec", fcntl(set, F_GETFD));
    show("bad flags", epoll_create1(1));
    show("bad size", epoll_create(0));
    show("old create", epoll_create(1) >= 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct epoll_event events[4];
    show("nothing", epoll_wait(set, events, 4, 0));
    show("no room", epoll_wait(set, events, 0, 0));
    show("not a set", epoll_wait(pair[0], events, 4, 0));
    show("bad set", epoll_wait(99, events, 4, 0));
    show("add", watch(set, EPOLL_CTL_ADD, pair[0], EPOLLIN, 1));
    show("add again", watch(set, EPOLL_CTL_ADD, pair[0], EPOLLIN, 1));
    show("modify missing", watch(set, EPOLL_CTL_MOD, pair[1], EPOLLIN, 1));
    show("delete missing", watch(set, EPOLL_CTL_DEL, pair[1], 0, 0));
    show("add itself", watch(set, EPOLL_CTL_ADD, set, EPOLLIN, 1));
    show("add bad", watch(set, EPOLL_CTL_ADD, 99, EPOLLIN, 1));
    show("bad operation", watch(set, 9, pair[0], EPOLLIN, 1));
    show("bad address", epoll_ctl(set, EPOLL_CTL_MOD, pair[0], (void *)8));
    show("not a set", watch(pair[1], EPOLL_CTL_ADD, pair[0], EPOLLIN, 1));
    int file = open("/tmp", O_RDONLY);
    show("a directory", watch(set, EPOLL_CTL_ADD, file, EPOLLIN, 1));
    show("/dev/null", watch(set, EPOLL_CTL_ADD, open("/dev/null", O_RDWR), EPOLLIN, 1));

    show_epoll("quiet", set, 4);
    write(pair[1], "ab", 2);
    show_epoll("level", set, 4);
    show_epoll("level again", set, 4);
    read(pair[0], events, 1);
    show_epoll("still", set, 4);
    read(pair[0], events, 1);
    show_epoll("gone", set, 4);
    show("ask for writing", watch(set, EPOLL_CTL_MOD, pair[0], EPOLLIN | EPOLLOUT, 7));
    show_epoll("writable", set, 4);
    write(pair[1], "x", 1);
    show_epoll("both", set, 4);
    watch(set, EPOLL_CTL_MOD, pair[0], 0, 7);
    show_epoll("nothing asked", set, 4);
    close(pair[1]);
    show_epoll("hung up anyway", set, 4);
    watch(set, EPOLL_CTL_MOD, pair[0], EPOLLRDHUP | EPOLLIN, 8);
    show_epoll("all about it", set, 4);
    show("delete", watch(set, EPOLL_CTL_DEL, pair[0], 0, 0));
    show_epoll("empty", set, 4);

    // One shot.
    int counter = eventfd(0, EFD_NONBLOCK);
    watch(set, EPOLL_CTL_ADD, counter, EPOLLIN | EPOLLONESHOT, 2);
    eventfd_write(counter, 1);
    show_epoll("one shot", set, 4);
    show_epoll("only once", set, 4);
    eventfd_write(counter, 1);
    show_epoll("not even then", set, 4);
    watch(set, EPOLL_CTL_MOD, counter, EPOLLIN | EPOLLONESHOT, 3);
    show_epoll("asked again", set, 4);
    watch(set, EPOLL_CTL_DEL, counter, 0, 0);

    // Order and turns.
    int counters[4];
    for (int i = 0; i < 4; i++) {
        counters[i] = eventfd(0, EFD_NONBLOCK);
        watch(set, EPOLL_CTL_ADD, counters[i], EPOLLIN, 10 + i);
    }
    eventfd_write(counters[2], 1), eventfd_write(counters[0], 1), eventfd_write(counters[3], 1);
    show_epoll("in order of arrival", set, 4);
    show_epoll("two at a time", set, 2);
    show_epoll("the next two", set, 2);
    show_epoll("in turn", set, 1);
    eventfd_write(counters[1], 1);
    show_epoll("a new one", set, 4);
    eventfd_t value;
    eventfd_read(counters[0], &value);
    show_epoll("without the first", set, 4);

    // Closing.
    int copy = dup(counters[2]);
    close(counters[2]);
    show_epoll("a copy keeps it", set, 4);
    close(copy);
    show_epoll("now it is gone", set, 4);
    for (int i = 0; i < 4; i++) close(counters[i]);
    show_epoll("all gone", set, 4);

    // Nested.
    int outer = epoll_create1(0);
    counter = eventfd(0, EFD_NONBLOCK);
    watch(set, EPOLL_CTL_ADD, counter, EPOLLIN, 5);
    show("nest", watch(outer, EPOLL_CTL_ADD, set, EPOLLIN, 6));
    show("circle", watch(set, EPOLL_CTL_ADD, outer, EPOLLIN, 6));
    show_epoll("nested quiet", outer, 4);
    eventfd_write(counter, 1);
    show_epoll("nested", outer, 4);
    show_poll("poll a set", set);
    show_epoll("inner", set, 4);
    eventfd_read(counter, &value);
    show_epoll("nested gone", outer, 4);

    // Waiting.
    pthread_t thread;
    pthread_create(&thread, NULL, later, &counter);
    show("wait", epoll_wait(outer, events, 4, -1));
    pthread_join(thread, NULL);
    eventfd_read(counter, &value);
    show("wait in time", epoll_wait(outer, events, 4, 5));
    struct timespec brief = {0, 1000000};
    show("wait in finer time", epoll_pwait2(outer, events, 4, &brief, NULL));
    show("exclusive", watch(outer, EPOLL_CTL_ADD, counter, EPOLLIN | EPOLLEXCLUSIVE, 1));
    show("exclusive modified", watch(outer, EPOLL_CTL_MOD, counter, EPOLLIN, 1));
    show("exclusive one shot", watch(set, EPOLL_CTL_MOD, counter, EPOLLIN | EPOLLEXCLUSIVE, 1));
    return 0;
}
