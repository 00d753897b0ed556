// What the programs about sockets and events share.
#ifndef NETCHECK_H
#define NETCHECK_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// One check: its name, the result, and the error if there is one.
static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static struct sockaddr_in loopback(int port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
}

static int port_of(int fd) {
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &length)) return -1;
    return ntohs(((struct sockaddr_in *)&name)->sin_port);
}

static int tcp(void) { return socket(AF_INET, SOCK_STREAM, 0); }

static int bind_to(int fd, int port) {
    struct sockaddr_in name = loopback(port);
    return bind(fd, (struct sockaddr *)&name, sizeof name);
}

static int connect_to(int fd, int port) {
    struct sockaddr_in name = loopback(port);
    return connect(fd, (struct sockaddr *)&name, sizeof name);
}

static int listener(int backlog) {
    int fd = tcp();
    bind_to(fd, 0);
    listen(fd, backlog);
    return fd;
}

// A TCP connection: ends[0] connected, ends[1] accepted.
static void connection(int ends[2]) {
    int fd = listener(5);
    ends[0] = tcp();
    connect_to(ends[0], port_of(fd));
    ends[1] = accept(fd, NULL, NULL);
    close(fd);
}

static void nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static int option(int fd, int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    return getsockopt(fd, level, name, &value, &length) ? -errno : value;
}

static int set_option(int fd, int level, int name, int value) {
    return setsockopt(fd, level, name, &value, sizeof value);
}

static const char *text_of(unsigned events) {
    static char text[128];
    static const struct { unsigned bit; const char *name; } names[] = {
        {POLLIN, "IN"}, {POLLPRI, "PRI"}, {POLLOUT, "OUT"}, {POLLERR, "ERR"}, {POLLHUP, "HUP"}, {POLLNVAL, "NVAL"},
        {POLLRDNORM, "RDNORM"}, {POLLRDBAND, "RDBAND"}, {POLLWRNORM, "WRNORM"}, {POLLWRBAND, "WRBAND"},
        {POLLRDHUP, "RDHUP"}};
    text[0] = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (events & names[i].bit) {
            if (text[0]) strcat(text, "|");
            strcat(text, names[i].name);
        }
    return text[0] ? text : "nothing";
}

// What poll(2) says now about everything.
static void show_poll(const char *name, int fd) {
    struct pollfd entry = {fd, 0x3fff, 0};
    int count = poll(&entry, 1, 0);
    printf("%s: %d %s\n", name, count, text_of(entry.revents));
    fflush(stdout);
}

// What epoll_wait(2) gives now, as data:events.
static void show_epoll(const char *name, int set, int max) {
    struct epoll_event events[16];
    int count = epoll_wait(set, events, max, 0);
    printf("%s: %d", name, count);
    for (int i = 0; i < count; i++) printf(" %d:%s", (int)events[i].data.u32, text_of(events[i].events));
    printf("\n");
    fflush(stdout);
}

static int watch(int set, int operation, int fd, unsigned events, unsigned data) {
    struct epoll_event event = {.events = events, .data.u32 = data};
    return epoll_ctl(set, operation, fd, &event);
}

static void show_text(const char *name, const char *bytes, long count) {
    printf("%s: %ld '%.*s' %s\n", name, count, count > 0 ? (int)count : 0, bytes,
           count == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static void show_recv(const char *name, int fd, int length, int flags) {
    char buffer[4096];
    long count = recv(fd, buffer, length, flags);
    show_text(name, buffer, count);
}
#endif
