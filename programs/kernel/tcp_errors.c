// Errors of bind, connect and their kin.
#include "netcheck.h"

int main(void) {
    show("bad family", socket(99, SOCK_STREAM, 0));
    show("bad type", socket(AF_INET, 9, 0));
    show("bad protocol", socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
    show("bad flags", socket(AF_INET, SOCK_STREAM | 0x10, 0));
    int pair[2];
    show("pair of TCP", socketpair(AF_INET, SOCK_STREAM, 0, pair));

    int used = listener(1), port = port_of(used);
    int fd = tcp();
    struct sockaddr_in name = loopback(port);
    show("bind short", bind(fd, (struct sockaddr *)&name, 8));
    name.sin_family = AF_UNIX;
    show("bind wrong family", bind(fd, (struct sockaddr *)&name, sizeof name));
    name = loopback(0);
    name.sin_addr.s_addr = htonl(0x08080808);
    show("bind foreign address", bind(fd, (struct sockaddr *)&name, sizeof name));
    show("bind used port", bind_to(fd, port));
    show("reuse", set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1));
    show("bind used by a listener", bind_to(fd, port));
    close(used);
    show("bind after close", bind_to(fd, port));

    int other = tcp();
    show("bind used again", bind_to(other, port));
    set_option(other, SOL_SOCKET, SO_REUSEADDR, 1);
    show("bind with both reusing", bind_to(other, port));
    show("first listens", listen(fd, 1));
    show("second listens", listen(other, 1));
    close(fd);
    show("second listens now", listen(other, 1));
    close(other);

    int one = tcp(), two = tcp(), three = tcp();
    set_option(one, SOL_SOCKET, SO_REUSEPORT, 1);
    set_option(two, SOL_SOCKET, SO_REUSEPORT, 1);
    bind_to(one, 0);
    show("share a port", bind_to(two, port_of(one)));
    show("share with one who does not", bind_to(three, port_of(one)));
    show("both listen", listen(one, 1) + listen(two, 1));
    close(one), close(two), close(three);

    // Wildcard against one address.
    int any = tcp();
    struct sockaddr_in all = {.sin_family = AF_INET};
    bind(any, (struct sockaddr *)&all, sizeof all);
    fd = tcp();
    show("address of a wildcard's port", bind_to(fd, port_of(any)));
    show("listen without bind", listen(fd, 1));
    show("it has a port now", port_of(fd) > 0);
    struct sockaddr_in second = loopback(port_of(fd));
    second.sin_addr.s_addr = htonl(0x7f000002);
    other = tcp();
    show("wildcard listener conflicts", bind(other, (struct sockaddr *)&second, sizeof second));
    close(any), close(fd), close(other);

    // Two addresses of one port.
    one = tcp(), two = tcp();
    bind_to(one, 0);
    second = loopback(port_of(one));
    second.sin_addr.s_addr = htonl(0x7f000002);
    show("another loopback address", bind(two, (struct sockaddr *)&second, sizeof second));
    listen(two, 1);
    int client = tcp();
    show("connect to it", connect(client, (struct sockaddr *)&second, sizeof second));
    struct sockaddr_in source;
    socklen_t length = sizeof source;
    getsockname(client, (struct sockaddr *)&source, &length);
    printf("source address: %s\n", inet_ntoa(source.sin_addr));
    fd = tcp();
    show("refused", connect_to(fd, port_of(one)));
    show_poll("poll refused", fd);
    show("connect again after refusal", connect(fd, (struct sockaddr *)&second, sizeof second));
    fd = tcp();
    struct sockaddr_in zero = {.sin_family = AF_INET, .sin_port = second.sin_port};
    close(one), close(two);
    show("refused at any address", connect(fd, (struct sockaddr *)&zero, sizeof zero));
    show("connect short", connect(fd, (struct sockaddr *)&zero, 3));
    zero.sin_family = AF_INET6;
    show("connect wrong family", connect(fd, (struct sockaddr *)&zero, sizeof zero));
    show("connect bad address", connect(fd, (struct sockaddr *)8, sizeof zero));
    show("accept of a datagram socket", accept(socket(AF_INET, SOCK_DGRAM, 0), NULL, NULL));
    show("listen of a datagram socket", listen(socket(AF_INET, SOCK_DGRAM, 0), 1));
    show("accept4 bad flags", accept4(fd, NULL, NULL, 1));
    return 0;
}
