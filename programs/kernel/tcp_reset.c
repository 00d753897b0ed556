// Resets, broken pipes and what is left to read.
#include "netcheck.h"

static volatile sig_atomic_t pipes;
static void count(int number) { pipes++; }

int main(void) {
    int ends[2];
    signal(SIGPIPE, count);

    connection(ends);
    send(ends[0], "unread", 6, 0);
    close(ends[1]);
    show_poll("poll after a reset", ends[0]);
    show("error", option(ends[0], SOL_SOCKET, SO_ERROR));
    show("error again", option(ends[0], SOL_SOCKET, SO_ERROR));
    show_recv("recv after the error", ends[0], 10, 0);
    show("send", send(ends[0], "x", 1, 0));
    show("signals", pipes);
    show("send without signal", send(ends[0], "x", 1, MSG_NOSIGNAL));
    show("signals", pipes);
    show("peer", getpeername(ends[0], &(struct sockaddr){0}, &(socklen_t){16}));
    show("shutdown", shutdown(ends[0], SHUT_WR));
    close(ends[0]);

    connection(ends);
    send(ends[0], "unread", 6, 0);
    send(ends[1], "reply", 5, 0);
    close(ends[1]);
    show_recv("recv before the error", ends[0], 3, 0);
    show_recv("recv the rest", ends[0], 10, 0);
    show_recv("recv the error", ends[0], 10, 0);
    show_recv("recv the end", ends[0], 10, 0);
    close(ends[0]);

    connection(ends);
    send(ends[0], "unread", 6, 0);
    close(ends[1]);
    show("send gets the reset", send(ends[0], "x", 1, 0));
    show("send gets the pipe", send(ends[0], "x", 1, 0));
    show("signals", pipes);
    close(ends[0]);

    struct linger now = {1, 0};
    connection(ends);
    show("linger", setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &now, sizeof now));
    send(ends[1], "data", 4, 0);
    close(ends[1]);
    show_recv("recv before a hard close", ends[0], 10, 0);
    show_recv("recv a hard close", ends[0], 10, 0);
    show_recv("recv again", ends[0], 10, 0);
    close(ends[0]);

    connection(ends);
    close(ends[1]);
    show_poll("poll half closed", ends[0]);
    show("write to a closed end", write(ends[0], "x", 1));
    show_poll("poll closed", ends[0]);
    show_recv("recv after that", ends[0], 10, 0);
    show("write again", write(ends[0], "x", 1));
    show("signals", pipes);
    show("error", option(ends[0], SOL_SOCKET, SO_ERROR));
    show_poll("poll at the end", ends[0]);
    close(ends[0]);

    connection(ends);
    show("shutdown RD", shutdown(ends[0], SHUT_RD));
    show_poll("poll shut for reading", ends[0]);
    show_recv("recv when shut", ends[0], 10, 0);
    show("send to a shut end", send(ends[1], "late", 4, 0));
    show_recv("recv what came late", ends[0], 10, MSG_DONTWAIT);
    show("shutdown RDWR", shutdown(ends[0], SHUT_RDWR));
    show_poll("poll shut", ends[0]);
    show_poll("poll its peer", ends[1]);
    show_recv("peer gets the end", ends[1], 10, 0);
    show("shutdown the peer", shutdown(ends[1], SHUT_WR));
    show_poll("poll both done", ends[1]);
    close(ends[0]), close(ends[1]);

    // A listener that closes with a connection that nobody accepted.
    int fd = listener(3), client = tcp();
    connect_to(client, port_of(fd));
    send(client, "hello", 5, 0);
    close(fd);
    show_poll("poll never accepted", client);
    show_recv("recv never accepted", client, 10, 0);
    close(client);

    // A client that leaves before it is accepted.
    fd = listener(3), client = tcp();
    connect_to(client, port_of(fd));
    send(client, "left", 4, 0);
    close(client);
    int server = accept(fd, NULL, NULL);
    show("accept who has left", server >= 0);
    show_recv("recv from who has left", server, 10, 0);
    show_recv("recv the end", server, 10, 0);
    // Disconnecting.
    connection(ends);
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    show("disconnect", connect(ends[0], &none, sizeof none));
    show_recv("peer of the disconnected", ends[1], 10, 0);
    show("send disconnected", send(ends[0], "x", 1, MSG_NOSIGNAL));
    return 0;
}
