// IPv6 over the loopback interface, and IPv4 through it.
#include "netcheck.h"

static struct sockaddr_in6 name6(const char *text, int port) {
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    inet_pton(AF_INET6, text, &name.sin6_addr);
    return name;
}

static void show_name(const char *what, int (*function)(int, struct sockaddr *, socklen_t *), int fd) {
    struct sockaddr_in6 name;
    socklen_t length = sizeof name;
    char text[64] = "none";
    int result = function(fd, (struct sockaddr *)&name, &length);
    if (!result) inet_ntop(AF_INET6, &name.sin6_addr, text, sizeof text);
    printf("%s: %d %s %d\n", what, result, text, length);
}

static int bound(const char *text, int port, int only) {
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, only);
    struct sockaddr_in6 name = name6(text, port);
    show("bind", bind(fd, (struct sockaddr *)&name, sizeof name));
    return fd;
}

int main(void) {
    int fd = bound("::1", 0, 0);
    listen(fd, 2);
    show_name("listener", getsockname, fd);
    int client = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 name = name6("::1", port_of(fd));
    show("connect", connect(client, (struct sockaddr *)&name, sizeof name));
    int server = accept(fd, NULL, NULL);
    show_name("client", getsockname, client);
    show_name("client of the server", getpeername, server);
    show("send", send(client, "six", 3, 0));
    show_recv("recv", server, 10, 0);
    show("IPv4 is refused", connect_to(tcp(), port_of(fd)));

    int both = bound("::", 0, 0);
    listen(both, 2);
    int old = tcp();
    show("IPv4 client", connect_to(old, port_of(both)));
    server = accept(both, NULL, NULL);
    show_name("mapped peer", getpeername, server);
    show_name("mapped name", getsockname, server);
    show("IPv4 wildcard conflicts", bind_to(tcp(), port_of(both)));
    client = socket(AF_INET6, SOCK_STREAM, 0);
    name = name6("::ffff:127.0.0.1", port_of(both));
    show("mapped connect", connect(client, (struct sockaddr *)&name, sizeof name));
    show_name("mapped client", getsockname, client);

    int only = bound("::", 0, 1);
    show("only", option(only, IPPROTO_IPV6, IPV6_V6ONLY));
    show("set after bind", set_option(only, IPPROTO_IPV6, IPV6_V6ONLY, 0));
    listen(only, 1);
    show("IPv4 does not reach it", connect_to(tcp(), port_of(only)));
    client = socket(AF_INET6, SOCK_STREAM, 0);
    name = name6("::", port_of(only));
    show("connect to any", connect(client, (struct sockaddr *)&name, sizeof name));
    show_name("it is the loopback", getpeername, client);
    name.sin6_family = AF_INET;
    show("wrong family", connect(socket(AF_INET6, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name));
    show("too short", connect(socket(AF_INET6, SOCK_STREAM, 0), (struct sockaddr *)&name, 16));

    int one = socket(AF_INET6, SOCK_DGRAM, 0), two = socket(AF_INET6, SOCK_DGRAM, 0);
    name = name6("::1", 0);
    bind(one, (struct sockaddr *)&name, sizeof name);
    name = name6("::1", port_of(one));
    show("datagram", sendto(two, "datagram", 8, 0, (struct sockaddr *)&name, sizeof name));
    struct sockaddr_in6 from;
    socklen_t length = sizeof from;
    char buffer[16];
    show_text("received", buffer, recvfrom(one, buffer, 16, 0, (struct sockaddr *)&from, &length));
    show("from the loopback", IN6_IS_ADDR_LOOPBACK(&from.sin6_addr));
    show("from its port", ntohs(from.sin6_port) == port_of(two));
    return 0;
}
