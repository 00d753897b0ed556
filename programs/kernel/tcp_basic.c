// A TCP connection from beginning to end.
#include "netcheck.h"

int main(void) {
    int fd = tcp();
    show("name of a new socket", port_of(fd));
    show_poll("poll new", fd);
    show("bind", bind_to(fd, 0));
    show("bind again", bind_to(fd, 0));
    show("port is given", port_of(fd) >= 1024);
    show_poll("poll bound", fd);
    show("accept before listen", accept(fd, NULL, NULL));
    show("listen", listen(fd, 2));
    show("listen again", listen(fd, 3));
    show_poll("poll listening", fd);
    show("connect of a listener", connect_to(fd, port_of(fd)));
    show("recv of a listener", recv(fd, &fd, 1, 0));
    show("acceptconn", option(fd, SOL_SOCKET, SO_ACCEPTCONN));

    int client = tcp();
    show("peer before connect", getpeername(client, &(struct sockaddr){0}, &(socklen_t){16}));
    show("connect", connect_to(client, port_of(fd)));
    show("connect again", connect_to(client, port_of(fd)));
    show_poll("poll listener with a connection", fd);
    show_poll("poll connected", client);
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    int server = accept(fd, (struct sockaddr *)&name, &length);
    show("accepted", server >= 0);
    show("length of the name", length);
    show("name is the client's", ntohs(name.sin_port) == port_of(client));
    show("address is the loopback", name.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    show("accepted has the listener's port", port_of(server) == port_of(fd));
    length = 4;
    show("short name", getpeername(server, (struct sockaddr *)&name, &length));
    show("true length", length);

    show("send", send(client, "hello", 5, 0));
    show("send more", send(client, " world", 6, 0));
    show_poll("poll readable", server);
    int count = -1;
    ioctl(server, FIONREAD, &count);
    show("FIONREAD", count);
    show_recv("recv a part", server, 3, 0);
    show_recv("recv the rest", server, 100, 0);
    show_recv("recv nothing", server, 100, MSG_DONTWAIT);

    show("send the last", send(client, "bye", 3, 0));
    show("shutdown WR", shutdown(client, SHUT_WR));
    show_poll("poll after the end", server);
    show("send after shutdown", send(client, "x", 1, MSG_NOSIGNAL));
    show_recv("recv the last", server, 100, 0);
    show_recv("recv the end", server, 100, 0);
    show_recv("recv the end again", server, 100, 0);
    show("send the other way", send(server, "still", 5, 0));
    show_recv("recv the other way", client, 100, 0);
    show("close server", close(server));
    show_poll("poll after both ends", client);
    show_recv("recv end", client, 100, 0);
    show("close client", close(client));
    show("bad shutdown", shutdown(fd, 7));
    show("shutdown unconnected", shutdown(tcp(), SHUT_RDWR));
    show("recv unconnected", recv(tcp(), &count, 1, 0));
    show("send unconnected", send(tcp(), &count, 1, MSG_NOSIGNAL));
    show("not a socket", listen(1, 1));
    show("bad descriptor", listen(99, 1));
    return 0;
}
