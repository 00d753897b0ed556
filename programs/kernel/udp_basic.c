// Datagrams over the loopback interface.
#include "netcheck.h"

static int udp(void) { return socket(AF_INET, SOCK_DGRAM, 0); }

static long send_to(int fd, const char *text, int length, int port) {
    struct sockaddr_in name = loopback(port);
    return sendto(fd, text, length, 0, (struct sockaddr *)&name, sizeof name);
}

int main(void) {
    char buffer[128];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    int one = udp(), two = udp();
    show_poll("poll new", one);
    show("send nowhere", send(one, "x", 1, 0));
    bind_to(one, 0);
    show("recv nothing", recv(one, buffer, 1, MSG_DONTWAIT));
    show("send", send_to(two, "first", 5, port_of(one)));
    show("it has a port now", port_of(two) > 0);
    show("send second", send_to(two, "second", 6, port_of(one)));
    show("send empty", send_to(two, "", 0, port_of(one)));
    show_poll("poll readable", one);
    int count = -1;
    ioctl(one, FIONREAD, &count);
    show("FIONREAD", count);
    show_recv("peek", one, 3, MSG_PEEK);
    show("peek for the length", recv(one, buffer, 1, MSG_PEEK | MSG_TRUNC));
    long got = recvfrom(one, buffer, 3, 0, (struct sockaddr *)&from, &length);
    show_text("cut", buffer, got);
    show("length of the name", length);
    show("port of the name", ntohs(from.sin_port) == port_of(two));
    show("true length", recv(one, buffer, 2, MSG_TRUNC));
    show("empty", recv(one, buffer, 100, 0));
    show("nothing left", recv(one, buffer, 100, MSG_DONTWAIT));

    struct iovec part = {buffer, 4};
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
    send_to(two, "longer", 6, port_of(one));
    show("recvmsg", recvmsg(one, &message, 0));
    show("cut flag", message.msg_flags & MSG_TRUNC);
    show("name length", message.msg_namelen);

    // A fixed destination.
    show("connect", connect_to(two, port_of(one)));
    show("send fixed", send(two, "fixed", 5, 0));
    show_recv("recv fixed", one, 100, 0);
    int three = udp();
    send_to(three, "stranger", 8, port_of(two));
    show_recv("a stranger is not heard", two, 100, MSG_DONTWAIT);
    send_to(one, "friend", 6, port_of(two));
    show_recv("the friend is", two, 100, MSG_DONTWAIT);
    struct sockaddr_in peer;
    length = sizeof peer;
    show("peer", getpeername(two, (struct sockaddr *)&peer, &length));
    show("peer's port", ntohs(peer.sin_port) == port_of(one));
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    show("disconnect", connect(two, &none, sizeof none));
    show("no peer", getpeername(two, (struct sockaddr *)&peer, &length));
    show("nowhere again", send(two, "x", 1, 0));

    // Nobody there.
    int closed = udp();
    bind_to(closed, 0);
    int port = port_of(closed);
    close(closed);
    int lonely = udp();
    connect_to(lonely, port);
    show("send to nobody", send(lonely, "x", 1, 0));
    show_poll("poll refused", lonely);
    show("recv refused", recv(lonely, buffer, 1, MSG_DONTWAIT));
    show("then nothing", recv(lonely, buffer, 1, MSG_DONTWAIT));
    send(lonely, "x", 1, 0);
    show("send refused", send(lonely, "x", 1, 0));
    send(lonely, "x", 1, 0);
    show("error", option(lonely, SOL_SOCKET, SO_ERROR) == ECONNREFUSED);
    show("unconnected is not told", send_to(three, "x", 1, port));
    show("nothing", recv(three, buffer, 1, MSG_DONTWAIT));

    // Limits and errors.
    static char huge[70000];
    struct sockaddr_in name = loopback(port_of(one));
    show("too long", sendto(three, huge, 65508, 0, (struct sockaddr *)&name, sizeof name));
    show("longest", sendto(three, huge, 65507, 0, (struct sockaddr *)&name, sizeof name));
    show("longest received", recv(one, huge, sizeof huge, 0));
    name.sin_port = 0;
    show("port 0", sendto(three, "x", 1, 0, (struct sockaddr *)&name, sizeof name));
    show("bind used", bind_to(udp(), port_of(one)));
    int four = udp(), five = udp();
    set_option(four, SOL_SOCKET, SO_REUSEADDR, 1), set_option(five, SOL_SOCKET, SO_REUSEADDR, 1);
    bind_to(four, 0);
    show("bind shared", bind_to(five, port_of(four)));
    send_to(three, "who", 3, port_of(four));
    show("the first", recv(four, buffer, 10, MSG_DONTWAIT));
    show("the last", recv(five, buffer, 10, MSG_DONTWAIT));
    show("shutdown unconnected", shutdown(four, SHUT_RD));
    show_poll("poll shut", four);
    show("recv shut", recv(four, buffer, 10, 0));
    show("urgent", send(three, "x", 1, MSG_OOB));

    // Many at once.
    struct mmsghdr many[3];
    struct iovec parts[3] = {{"a", 1}, {"bb", 2}, {"ccc", 3}};
    memset(many, 0, sizeof many);
    for (int i = 0; i < 3; i++) many[i].msg_hdr.msg_iov = &parts[i], many[i].msg_hdr.msg_iovlen = 1;
    connect_to(three, port_of(one));
    show("sendmmsg", sendmmsg(three, many, 3, 0));
    show("lengths", many[0].msg_len + 10 * many[1].msg_len + 100 * many[2].msg_len);
    char space[5][8];
    struct mmsghdr in[5];
    struct iovec rooms[5];
    memset(in, 0, sizeof in);
    for (int i = 0; i < 5; i++) rooms[i] = (struct iovec){space[i], 8}, in[i].msg_hdr.msg_iov = &rooms[i], in[i].msg_hdr.msg_iovlen = 1;
    show("recvmmsg", recvmmsg(one, in, 5, MSG_WAITFORONE, NULL));
    show("lengths", in[0].msg_len + 10 * in[1].msg_len + 100 * in[2].msg_len);
    show("recvmmsg nothing", recvmmsg(one, in, 5, MSG_DONTWAIT, NULL));
    return 0;
}
