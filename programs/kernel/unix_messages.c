// Unix datagrams and packets.
#include "netcheck.h"

static char folder[] = "/tmp/unixXXXXXX";

static socklen_t path_name(struct sockaddr_un *name, const char *file) {
    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    snprintf(name->sun_path, sizeof name->sun_path, "%s/%s", folder, file);
    return sizeof *name;
}

static int at(int (*function)(int, const struct sockaddr *, socklen_t), int fd, const char *file) {
    struct sockaddr_un name;
    socklen_t length = path_name(&name, file);
    return function(fd, (struct sockaddr *)&name, length);
}

static long send_to(int fd, const char *text, const char *file) {
    struct sockaddr_un name;
    socklen_t length = path_name(&name, file);
    return sendto(fd, text, strlen(text), 0, (struct sockaddr *)&name, length);
}

static void *reader(void *fd) {
    char buffer[16];
    usleep(3000);
    for (int i = 0; i < 250; i++) recv(*(int *)fd, buffer, sizeof buffer, 0);
    return NULL;
}

int main(void) {
    mkdtemp(folder);
    char buffer[64];
    int one = socket(AF_UNIX, SOCK_DGRAM, 0), two = socket(AF_UNIX, SOCK_DGRAM, 0);
    show_poll("poll new", one);
    show("send nowhere", send(two, "x", 1, 0));
    show("send to nothing", send_to(two, "x", "one"));
    at(bind, one, "one");
    show("send", send_to(two, "nameless", "one"));
    struct sockaddr_un from;
    socklen_t length = sizeof from;
    show_text("recv", buffer, recvfrom(one, buffer, 64, 0, (struct sockaddr *)&from, &length));
    show("no name", length);
    at(bind, two, "two");
    send_to(two, "named", "one");
    length = sizeof from;
    show_text("recv", buffer, recvfrom(one, buffer, 64, 0, (struct sockaddr *)&from, &length));
    show("the name", strcmp(strrchr(from.sun_path, '/'), "/two"));

    show("connect", at(connect, one, "two"));
    int three = socket(AF_UNIX, SOCK_DGRAM, 0);
    show("a stranger may not send", send_to(three, "x", "one"));
    show("nor connect", at(connect, three, "one"));
    show("the friend may", send_to(two, "friend", "one"));
    show_recv("recv friend", one, 64, 0);
    show("fixed", send(one, "fixed", 5, 0));
    show_recv("recv fixed", two, 3, 0);
    show_recv("the rest is gone", two, 64, MSG_DONTWAIT);
    close(two);
    show("friend has left", send(one, "x", 1, 0));
    show("nobody", send(one, "x", 1, 0));
    show("name of the dead", send_to(one, "x", "two"));

    int pair[2];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    show("empty message", send(pair[0], "", 0, 0));
    send(pair[0], "full", 4, 0);
    show("empty", recv(pair[1], buffer, 10, 0));
    show_recv("full", pair[1], 10, 0);
    int count = 0;
    while (send(pair[0], "x", 1, MSG_DONTWAIT) == 1) count++;
    show("fills up", errno == EAGAIN);
    show("how many", count);
    show_poll("poll full", pair[0]);
    pthread_t thread;
    pthread_create(&thread, NULL, reader, &pair[1]);
    show("wait for room", send(pair[0], "y", 1, 0));
    pthread_join(thread, NULL);
    // A mailbox that others fill.
    int box = socket(AF_UNIX, SOCK_DGRAM, 0), writer = socket(AF_UNIX, SOCK_DGRAM, 0);
    at(bind, box, "box");
    at(connect, writer, "box");
    for (count = 0; send(writer, "x", 1, MSG_DONTWAIT) == 1;) count++;
    show("a mailbox holds", count);
    show_poll("poll its writer", writer);
    show("without a connection", (count = sendto(three, "x", 1, MSG_DONTWAIT, NULL, 0)));
    recv(box, buffer, 1, 0);
    show_poll("poll with room", writer);
    static char huge[300000];
    show("too long", send(pair[0], huge, sizeof huge, MSG_DONTWAIT));
    close(pair[1]);
    show_poll("poll left alone", pair[0]);
    show("send left alone", send(pair[0], "x", 1, MSG_NOSIGNAL));
    close(pair[0]);

    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
    show_poll("poll packets", pair[0]);
    send(pair[0], "first", 5, 0), send(pair[0], "second", 6, 0);
    struct iovec part = {buffer, 3};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    show("recvmsg", recvmsg(pair[1], &message, 0));
    show("cut", (message.msg_flags & MSG_TRUNC) != 0);
    show_recv("next", pair[1], 64, 0);
    send(pair[0], "last", 4, 0);
    close(pair[0]);
    show_poll("poll after close", pair[1]);
    show_recv("last", pair[1], 64, 0);
    show_recv("end", pair[1], 64, 0);
    show("send to nobody", send(pair[1], "x", 1, MSG_NOSIGNAL));
    close(pair[1]);
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
    send(pair[0], "unread", 6, 0);
    close(pair[1]);
    show_poll("poll unread", pair[0]);
    show_recv("reset", pair[0], 64, 0);
    show_recv("then the end", pair[0], 64, 0);
    show("unconnected packets", recv(socket(AF_UNIX, SOCK_SEQPACKET, 0), buffer, 1, MSG_DONTWAIT));
    show("unconnected send", send(socket(AF_UNIX, SOCK_SEQPACKET, 0), buffer, 1, MSG_NOSIGNAL));
    show("unconnected stream", recv(socket(AF_UNIX, SOCK_STREAM, 0), buffer, 1, MSG_DONTWAIT));
    struct sockaddr_un name;
    const char *files[] = {"one", "two", "box"};
    for (int i = 0; i < 3; i++) path_name(&name, files[i]), unlink(name.sun_path);
    rmdir(folder);
    return 0;
}
