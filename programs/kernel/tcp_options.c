// Options that servers use.
#include "netcheck.h"

int main(void) {
    int fd = tcp(), datagram = socket(AF_INET, SOCK_DGRAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0);
    show("type", option(fd, SOL_SOCKET, SO_TYPE));
    show("domain", option(fd, SOL_SOCKET, SO_DOMAIN));
    show("protocol", option(fd, SOL_SOCKET, SO_PROTOCOL));
    show("type of UDP", option(datagram, SOL_SOCKET, SO_TYPE));
    show("protocol of UDP", option(datagram, SOL_SOCKET, SO_PROTOCOL));
    show("domain of Unix", option(local, SOL_SOCKET, SO_DOMAIN));
    static const struct { const char *name; int level, number, value; } switches[] = {
        {"reuse address", SOL_SOCKET, SO_REUSEADDR, 5}, {"reuse port", SOL_SOCKET, SO_REUSEPORT, 1},
        {"keep alive", SOL_SOCKET, SO_KEEPALIVE, -1}, {"broadcast", SOL_SOCKET, SO_BROADCAST, 1},
        {"no delay", IPPROTO_TCP, TCP_NODELAY, 7}, {"cork", IPPROTO_TCP, TCP_CORK, 1},
        {"keep idle", IPPROTO_TCP, TCP_KEEPIDLE, 30}, {"keep interval", IPPROTO_TCP, TCP_KEEPINTVL, 11},
        {"keep count", IPPROTO_TCP, TCP_KEEPCNT, 4}, {"user timeout", IPPROTO_TCP, TCP_USER_TIMEOUT, 1000},
        {"tos", IPPROTO_IP, IP_TOS, 0x10}, {"ttl", IPPROTO_IP, IP_TTL, 9}, {"priority", SOL_SOCKET, SO_PRIORITY, 3}};
    for (unsigned i = 0; i < sizeof switches / sizeof *switches; i++) {
        char name[64];
        sprintf(name, "%s at first", switches[i].name);
        show(name, option(fd, switches[i].level, switches[i].number));
        sprintf(name, "set %s", switches[i].name);
        show(name, set_option(fd, switches[i].level, switches[i].number, switches[i].value));
        sprintf(name, "%s now", switches[i].name);
        show(name, option(fd, switches[i].level, switches[i].number));
    }
    show("idle too long", set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 40000));
    show("ttl too large", set_option(fd, IPPROTO_IP, IP_TTL, 256));
    show("send buffer", set_option(fd, SOL_SOCKET, SO_SNDBUF, 10000));
    show("send buffer is doubled", option(fd, SOL_SOCKET, SO_SNDBUF));
    show("receive buffer", set_option(fd, SOL_SOCKET, SO_RCVBUF, 10000));
    show("receive buffer is doubled", option(fd, SOL_SOCKET, SO_RCVBUF));
    set_option(fd, SOL_SOCKET, SO_SNDBUF, 1);
    show("smallest send buffer", option(fd, SOL_SOCKET, SO_SNDBUF));
    set_option(fd, SOL_SOCKET, SO_RCVBUF, 1);
    show("smallest receive buffer", option(fd, SOL_SOCKET, SO_RCVBUF));
    struct linger linger = {1, 5};
    show("linger", setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
    linger = (struct linger){0, 0};
    socklen_t length = sizeof linger;
    getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &length);
    printf("linger is: %d %d %d\n", linger.l_onoff, linger.l_linger, length);
    show("linger too short", setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, 4));
    struct timeval time = {3, 500000};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    time = (struct timeval){0, 0};
    length = sizeof time;
    getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, &length);
    printf("send time-out is: %ld %ld %d\n", (long)time.tv_sec, (long)time.tv_usec, length);
    show("too short", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &length, 2));
    show("unknown option", set_option(fd, SOL_SOCKET, 999, 1));
    show("unknown option of TCP", set_option(fd, IPPROTO_TCP, 999, 1));
    show("ask unknown", option(fd, IPPROTO_TCP, 999));
    show("TCP option of UDP", set_option(datagram, IPPROTO_TCP, TCP_NODELAY, 1));
    show("TCP option of Unix", set_option(local, IPPROTO_TCP, TCP_NODELAY, 1));
    show("IPv6 option of IPv4", set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1));
    show("set the type", set_option(fd, SOL_SOCKET, SO_TYPE, 1));
    show("set the error", set_option(fd, SOL_SOCKET, SO_ERROR, 1));
    show("bad address", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, (void *)8, 4));
    char little = 0x7f;
    length = 1;
    show("one byte of it", getsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &little, &length));
    printf("it is: %d %d\n", little, length);
    // Accepted sockets have their listener's options.
    int server = tcp(), client = tcp();
    set_option(server, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(server, IPPROTO_TCP, TCP_NODELAY, 1);
    bind_to(server, 0), listen(server, 1);
    connect_to(client, port_of(server));
    int accepted = accept(server, NULL, NULL);
    show("inherited keep alive", option(accepted, SOL_SOCKET, SO_KEEPALIVE));
    show("inherited no delay", option(accepted, IPPROTO_TCP, TCP_NODELAY));
    struct tcp_info info;
    length = sizeof info;
    getsockopt(accepted, IPPROTO_TCP, TCP_INFO, &info, &length);
    show("state", info.tcpi_state);
    return 0;
}
