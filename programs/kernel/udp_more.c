// Datagrams that are sent in pieces (MSG_MORE, UDP_CORK).
#include "netcheck.h"

static int to, from;

static void receive(const char *name) {
    char text[100];
    for (;;) {
        long got = recv(from, text, sizeof text, MSG_DONTWAIT);
        if (got < 0) break;
        printf("%s: %.*s (%ld)\n", name, (int)got, text, got);
    }
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    from = socket(AF_INET, SOCK_DGRAM, 0), to = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in name = loopback(0);
    socklen_t length = sizeof name;
    bind(from, (void *)&name, length);
    getsockname(from, (void *)&name, &length);
    connect(to, (void *)&name, length);
    show("more", send(to, "one", 3, MSG_MORE));
    receive("too early");
    show("more", send(to, "two", 3, MSG_MORE));
    show("last", send(to, "three", 5, 0));
    receive("joined");
    show("whole", send(to, "whole", 5, 0));
    receive("alone");
    int other = socket(AF_INET, SOCK_DGRAM, 0);
    show("more, with an address", sendto(other, "a", 1, MSG_MORE, (void *)&name, length));
    show("last, without", send(other, "b", 1, 0));
    receive("to the first address");
    show("more", send(to, "lost", 4, MSG_MORE));
    close(to);
    receive("of a closed one");
    to = socket(AF_INET, SOCK_DGRAM, 0);
    connect(to, (void *)&name, length);
    static char much[60000];
    show("much", send(to, much, sizeof much, MSG_MORE));
    show("too much", send(to, much, sizeof much, 0));
    show("nothing is left", send(to, "z", 1, 0));
    receive("only the last");
    int on = 1, off = 0;
    show("cork", setsockopt(to, IPPROTO_UDP, 1, &on, sizeof on));
    show("held", send(to, "one", 3, 0)), show("held", send(to, "two", 3, 0));
    receive("too early");
    show("more", send(to, "three", 5, MSG_MORE));
    show("uncork", setsockopt(to, IPPROTO_UDP, 1, &off, sizeof off));
    receive("joined");
    show("uncork again", setsockopt(to, IPPROTO_UDP, 1, &off, sizeof off));
    show("whole", send(to, "whole", 5, 0));
    receive("alone");
    show("more", send(to, "pushed", 6, MSG_MORE));
    show("uncork pushes that, too", setsockopt(to, IPPROTO_UDP, 1, &off, sizeof off));
    receive("pushed");
}
