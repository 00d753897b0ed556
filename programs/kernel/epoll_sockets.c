// epoll: edges of sockets that send, connect, are refused and reset.
#include "netcheck.h"

int main(void) {
    char buffer[16];
    int set = epoll_create1(0);
    int one = socket(AF_INET, SOCK_DGRAM, 0), two = socket(AF_INET, SOCK_DGRAM, 0);
    bind_to(one, 0), connect_to(two, port_of(one));
    watch(set, EPOLL_CTL_ADD, two, EPOLLIN | EPOLLOUT | EPOLLET, 1);
    watch(set, EPOLL_CTL_ADD, one, EPOLLIN | EPOLLOUT | EPOLLET, 2);
    show_epoll("datagrams at first", set, 4);
    show_epoll("once", set, 4);
    send(two, "x", 1, 0);
    show_epoll("sent", set, 4);
    show_epoll("once", set, 4);
    send(two, "x", 1, 0);
    show_epoll("sent again", set, 4);
    recv(one, buffer, 9, MSG_DONTWAIT);
    show_epoll("received", set, 4);
    close(one);
    show_epoll("closed", set, 4);
    send(two, "x", 1, 0);
    show_epoll("refused", set, 4);
    close(two);

    int pair[2], ends[2];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    watch(set, EPOLL_CTL_ADD, pair[0], EPOLLIN | EPOLLOUT | EPOLLET, 3);
    show_epoll("messages at first", set, 4);
    send(pair[0], "x", 1, 0);
    show_epoll("sent", set, 4);
    recv(pair[1], buffer, 9, 0);
    show_epoll("received", set, 4);
    shutdown(pair[0], SHUT_RDWR);
    show_epoll("shut down", set, 4);
    close(pair[0]);

    connection(ends);
    watch(set, EPOLL_CTL_ADD, ends[0], EPOLLIN | EPOLLOUT | EPOLLET, 4);
    show_epoll("stream at first", set, 4);
    send(ends[0], "x", 1, 0);
    show_epoll("sent", set, 4);
    recv(ends[1], buffer, 9, 0);
    show_epoll("received", set, 4);
    struct linger now = {1, 0};
    setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(ends[1]);
    show_epoll("reset", set, 4);
    show_epoll("once", set, 4);
    close(ends[0]);

    int fd = listener(1), client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    watch(set, EPOLL_CTL_ADD, client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 5);
    show_epoll("new", set, 4);
    connect_to(client, port_of(fd));
    poll(&(struct pollfd){client, POLLOUT, 0}, 1, -1);
    show_epoll("connected", set, 4);
    show_epoll("once", set, 4);
    shutdown(client, SHUT_WR);
    show_epoll("shut down", set, 4);
    close(client);
    client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    watch(set, EPOLL_CTL_ADD, client, EPOLLOUT | EPOLLET, 6);
    show_epoll("another", set, 4);
    int port = port_of(fd);
    close(fd);
    connect_to(client, port);
    usleep(2000);
    show_epoll("refused", set, 4);
    show_epoll("once", set, 4);
    return 0;
}
