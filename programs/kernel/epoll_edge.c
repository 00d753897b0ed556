// epoll: edges, exactly.
#include "netcheck.h"

static volatile sig_atomic_t alarms;
static void count(int number) { alarms++; }

static void sockets(const char *kind, int ends[2]) {
    char name[64], byte[16];
    int set = epoll_create1(0);
#define NAME(text) (sprintf(name, "%s: %s", kind, text), name)
    nonblocking(ends[0]), nonblocking(ends[1]);
    watch(set, EPOLL_CTL_ADD, ends[0], EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 1);
    show_epoll(NAME("at first"), set, 4);
    show_epoll(NAME("once"), set, 4);
    write(ends[1], "ab", 2);
    show_epoll(NAME("arrival"), set, 4);
    show_epoll(NAME("once"), set, 4);
    read(ends[0], byte, 1);
    show_epoll(NAME("a part was read"), set, 4);
    write(ends[1], "c", 1);
    show_epoll(NAME("more while readable"), set, 4);
    write(ends[1], "d", 1), write(ends[1], "e", 1);
    show_epoll(NAME("two arrivals"), set, 4);
    show_epoll(NAME("are one event"), set, 4);
    read(ends[0], byte, 16);
    show_epoll(NAME("all was read"), set, 4);
    write(ends[1], "f", 1);
    read(ends[0], byte, 16);
    show_epoll(NAME("come and gone"), set, 4);
    show_epoll(NAME("quiet"), set, 4);
    watch(set, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLET, 2);
    show_epoll(NAME("modified, not readable"), set, 4);
    write(ends[1], "g", 1);
    show_epoll(NAME("arrival"), set, 4);
    watch(set, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLET, 3);
    show_epoll(NAME("modified, readable"), set, 4);
    watch(set, EPOLL_CTL_MOD, ends[0], EPOLLOUT | EPOLLET, 4);
    show_epoll(NAME("writable"), set, 4);
    show_epoll(NAME("once"), set, 4);
    write(ends[1], "h", 1);
    show_epoll(NAME("arrival is of no interest"), set, 4);
    watch(set, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLRDHUP | EPOLLET, 5);
    show_epoll(NAME("modified"), set, 4);
    shutdown(ends[1], SHUT_WR);
    show_epoll(NAME("half closed"), set, 4);
    show_epoll(NAME("once"), set, 4);
    close(ends[1]);
    show_epoll(NAME("closed"), set, 4);
    show_epoll(NAME("once"), set, 4);
    watch(set, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLET | EPOLLONESHOT, 6);
    show_epoll(NAME("one shot"), set, 4);
    show_epoll(NAME("once"), set, 4);
    close(ends[0]);
    close(set);
}

int main(void) {
    int ends[2];
    connection(ends);
    sockets("tcp", ends);
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    sockets("unix", ends);

    // Room.
    connection(ends);
    nonblocking(ends[0]), nonblocking(ends[1]);
    int set = epoll_create1(0);
    static char block[65536];
    watch(set, EPOLL_CTL_ADD, ends[0], EPOLLOUT | EPOLLET, 1);
    show_epoll("writable", set, 4);
    while (write(ends[0], block, sizeof block) > 0) {}
    show_epoll("full", set, 4);
    struct epoll_event event;
    long got;
    int woken = 0;
    for (int i = 0; i < 1000 && !woken; i++) {
        while ((got = read(ends[1], block, sizeof block)) > 0) {}
        woken = epoll_wait(set, &event, 1, 1);
    }
    show("room again", woken);
    show("for writing", event.events);

    // A listener.
    int fd = listener(8);
    nonblocking(fd);
    watch(set, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, 2);
    show_epoll("quiet listener", set, 4);
    int one = tcp(), two = tcp(), three = tcp();
    connect_to(one, port_of(fd));
    show_epoll("a connection", set, 4);
    connect_to(two, port_of(fd)), connect_to(three, port_of(fd));
    show_epoll("two more", set, 4);
    show("accept", accept(fd, NULL, NULL) >= 0);
    show_epoll("still some, no edge", set, 4);

    // Counters.
    int counter = eventfd(0, EFD_NONBLOCK);
    watch(set, EPOLL_CTL_ADD, counter, EPOLLIN | EPOLLET, 3);
    show_epoll("quiet counter", set, 4);
    eventfd_write(counter, 1);
    show_epoll("counted", set, 4);
    eventfd_write(counter, 1);
    show_epoll("counted again", set, 4);
    eventfd_t value;
    eventfd_read(counter, &value);
    show_epoll("read", set, 4);
    watch(set, EPOLL_CTL_MOD, counter, EPOLLIN | EPOLLOUT | EPOLLET, 3);
    show_epoll("writable", set, 4);
    eventfd_write(counter, 1);
    show_epoll("both", set, 4);
    eventfd_read(counter, &value);
    show_epoll("read with interest in room", set, 4);

    // Pipes.
    int ends2[2];
    pipe2(ends2, O_NONBLOCK);
    watch(set, EPOLL_CTL_ADD, ends2[0], EPOLLIN | EPOLLET, 4);
    show_epoll("quiet pipe", set, 4);
    write(ends2[1], "a", 1);
    show_epoll("written", set, 4);
    write(ends2[1], "b", 1);
    show_epoll("written again", set, 4);
    read(ends2[0], block, 1);
    show_epoll("read a part", set, 4);
    close(ends2[1]);
    show_epoll("writer left", set, 4);
    show_epoll("once", set, 4);
    pipe2(ends2, O_NONBLOCK);
    watch(set, EPOLL_CTL_ADD, ends2[1], EPOLLOUT | EPOLLET, 5);
    show_epoll("pipe writable", set, 4);
    while (write(ends2[1], block, 4096) > 0) {}
    show_epoll("pipe full", set, 4);
    read(ends2[0], block, 65536);
    show_epoll("pipe drained", set, 4);
    close(ends2[0]);
    show_epoll("reader left", set, 4);

    // Nested edges.
    int outer = epoll_create1(0);
    watch(outer, EPOLL_CTL_ADD, set, EPOLLIN | EPOLLET, 9);
    show_epoll("nested quiet", outer, 4);
    eventfd_write(counter, 1);
    show_epoll("nested", outer, 4);
    show_epoll("once", outer, 4);
    eventfd_write(counter, 1);
    show_epoll("the inner was not asked", outer, 4);
    show_epoll("ask the inner", set, 4);
    eventfd_write(counter, 1);
    show_epoll("then again", outer, 4);

    // A signal mask for the time of the wait.
    signal(SIGALRM, count);
    sigset_t none, alarm_set;
    sigemptyset(&none), sigemptyset(&alarm_set), sigaddset(&alarm_set, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm_set, NULL);
    raise(SIGALRM);
    show("blocked", alarms);
    int empty = epoll_create1(0);
    show("wait with the signal", epoll_pwait(empty, &event, 1, -1, &none));
    show("handled", alarms);
    show("wait in time", epoll_pwait(empty, &event, 1, 1, &alarm_set));
    return 0;
}
