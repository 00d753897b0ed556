// Sockets that do not wait.
#include "netcheck.h"

int main(void) {
    int fd = listener(4);
    nonblocking(fd);
    show("accept nothing", accept(fd, NULL, NULL));

    int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    show("flags", fcntl(client, F_GETFL) & (O_NONBLOCK | O_RDWR));
    show("close on exec", fcntl(client, F_GETFD));
    show("connect", connect_to(client, port_of(fd)));
    struct pollfd entry = {client, POLLOUT, 0};
    poll(&entry, 1, -1);
    show_poll("poll connected", client);
    show("error", option(client, SOL_SOCKET, SO_ERROR));
    show("connect a second time", connect_to(client, port_of(fd)));
    show("connect a third time", connect_to(client, port_of(fd)));
    int server = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
    show("accepted", server >= 0);
    show("accepted flags", (fcntl(server, F_GETFL) & O_NONBLOCK) != 0);
    show("accepted close on exec", fcntl(server, F_GETFD));
    show_recv("recv nothing", client, 10, 0);

    int closed = listener(1), port = port_of(closed);
    close(closed);
    int refused = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    show("connect to nobody", connect_to(refused, port));
    entry.fd = refused;
    poll(&entry, 1, -1);
    show_poll("poll refused", refused);
    show("error", option(refused, SOL_SOCKET, SO_ERROR) == ECONNREFUSED);
    show_poll("poll after the error", refused);
    show("connect again", connect_to(refused, port));
    close(refused);
    refused = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect_to(refused, port);
    poll(&(struct pollfd){refused, POLLOUT, 0}, 1, -1);
    show("second connect tells", connect_to(refused, port));
    show_recv("recv refused", refused, 10, 0);

    // Fill the connection.
    static char block[65536];
    long sent = 0, count;
    set_option(client, SOL_SOCKET, SO_SNDBUF, 8192);
    while ((count = send(client, block, sizeof block, 0)) > 0) sent += count;
    show("full", count);
    show("some went", sent >= 8192);
    entry = (struct pollfd){client, POLLOUT, 0};
    show("not writable", poll(&entry, 1, 0));
    long received = 0;
    while (received < sent && (count = recv(server, block, sizeof block, MSG_DONTWAIT)) != 0)
        if (count > 0) received += count;
    show("all came", received == sent);
    show("writable again", poll(&entry, 1, 1000));

    // A backlog that is full.
    int narrow = listener(0);
    int first = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), second = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect_to(first, port_of(narrow));
    poll(&(struct pollfd){first, POLLOUT, 0}, 1, -1);
    show("no room", connect_to(second, port_of(narrow)));
    show_poll("poll without answer", second);
    show("send without answer", send(second, "x", 1, MSG_DONTWAIT));
    show("recv without answer", recv(second, block, 1, MSG_DONTWAIT));
    show("peer without answer", getpeername(second, &(struct sockaddr){0}, &(socklen_t){16}));
    show("connect without answer", connect_to(second, port_of(narrow)));
    show("accept makes room", accept(narrow, NULL, NULL) >= 0);
    entry = (struct pollfd){second, POLLOUT, 0};
    show("answered", poll(&entry, 1, 5000));
    show("accept the second", accept(narrow, NULL, NULL) >= 0);

    // Time-outs.
    struct timeval brief = {0, 20000};
    int ends[2];
    connection(ends);
    show("set a time-out", setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief));
    show_recv("recv in time", ends[0], 10, 0);
    int quiet = listener(1);
    setsockopt(quiet, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief);
    show("accept in time", accept(quiet, NULL, NULL));
    struct timeval wrong = {0, 2000000};
    show("wrong time-out", setsockopt(quiet, SOL_SOCKET, SO_RCVTIMEO, &wrong, sizeof wrong));
    return 0;
}
