// Unix stream sockets: names, connections, ends.
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

static void show_name(const char *what, int (*function)(int, struct sockaddr *, socklen_t *), int fd) {
    struct sockaddr_un name;
    memset(&name, 'z', sizeof name);
    socklen_t length = sizeof name;
    int result = function(fd, (struct sockaddr *)&name, &length);
    const char *file = length > 3 && name.sun_path[0] ? strrchr(name.sun_path, '/') : "";
    printf("%s: %d %d '%s'\n", what, result, result ? 0 : length, file ? file : "");
}

int main(void) {
    mkdtemp(folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    show_poll("poll new", fd);
    show_name("no name", getsockname, fd);
    show("listen without name", listen(fd, 1));
    show("bind", at(bind, fd, "one"));
    show("bind again", at(bind, fd, "two"));
    show_name("name", getsockname, fd);
    struct stat status;
    struct sockaddr_un name;
    path_name(&name, "one");
    show("a file", stat(name.sun_path, &status));
    show("of socket kind", S_ISSOCK(status.st_mode));
    show("open it", open(name.sun_path, O_RDWR));
    int other = socket(AF_UNIX, SOCK_STREAM, 0);
    show("bind the same", at(bind, other, "one"));
    show("bind in nowhere", at(bind, other, "none/one"));
    show("connect before listen", at(connect, other, "one"));
    show("connect to nothing", at(connect, other, "missing"));
    close(open(folder, O_RDONLY));
    path_name(&name, "file");
    close(open(name.sun_path, O_CREAT | O_WRONLY, 0600));
    show("connect to a file", at(connect, other, "file"));
    show("listen", listen(fd, 1));
    show("wrong kind", at(connect, socket(AF_UNIX, SOCK_DGRAM, 0), "one"));
    show("connect", at(connect, other, "one"));
    show("connect again", at(connect, other, "one"));
    show_poll("poll connected", other);
    show_name("peer", getpeername, other);
    show("send before accept", send(other, "early", 5, 0));
    int second = socket(AF_UNIX, SOCK_STREAM, 0), third = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    show("connect a second", at(connect, second, "one"));
    show("backlog is full", at(connect, third, "one"));
    struct sockaddr_un from;
    socklen_t length = sizeof from;
    int server = accept(fd, (struct sockaddr *)&from, &length);
    show("nameless peer", length);
    show("room again", at(connect, third, "one"));
    show_name("accepted has the name", getsockname, server);
    show_recv("recv", server, 10, 0);
    struct ucred who;
    length = sizeof who;
    getsockopt(server, SOL_SOCKET, SO_PEERCRED, &who, &length);
    show("peer is us", who.pid == getpid() && who.uid == getuid() && who.gid == getgid());
    show("send with a name", sendto(other, "x", 1, 0, (struct sockaddr *)&from, 2));

    close(accept(fd, NULL, NULL));
    show_recv("recv who was dropped", second, 10, 0);
    close(third);
    int gone = accept(fd, NULL, NULL);
    show_poll("poll who has left", gone);
    show_recv("recv who has left", gone, 10, 0);
    show("send who has left", send(gone, "x", 1, MSG_NOSIGNAL));
    close(gone);

    // Ends.
    send(other, "unread", 6, 0);
    close(server);
    show_poll("poll after unread", other);
    show_recv("recv after unread", other, 10, 0);
    show_recv("recv again", other, 10, 0);
    show("send", send(other, "x", 1, MSG_NOSIGNAL));
    close(fd);
    path_name(&name, "one");
    show("the file stays", stat(name.sun_path, &status));
    show("connect to the file", at(connect, socket(AF_UNIX, SOCK_STREAM, 0), "one"));
    show("unlink", unlink(name.sun_path));

    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    show_poll("poll pair", pair[0]);
    show_name("pair has no name", getsockname, pair[0]);
    show_name("nor its peer", getpeername, pair[0]);
    write(pair[0], "one", 3), write(pair[0], "two", 3);
    show_recv("streams are joined", pair[1], 100, 0);
    show("shutdown WR", shutdown(pair[0], SHUT_WR));
    show_poll("poll peer of WR", pair[1]);
    show_recv("end", pair[1], 10, 0);
    show("other way", send(pair[1], "back", 4, 0));
    show_recv("back", pair[0], 10, 0);
    show("shutdown RD", shutdown(pair[0], SHUT_RD));
    show_poll("poll shut", pair[0]);
    show_poll("poll peer of shut", pair[1]);
    show("send to the deaf", send(pair[1], "x", 1, MSG_NOSIGNAL));
    close(pair[0]), close(pair[1]);

    // Filling.
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
    static char block[4096];
    long count, sent = 0;
    while ((count = write(pair[0], block, sizeof block)) > 0) sent += count;
    show("full", count);
    show("much went", sent > 100000);
    show_poll("poll full", pair[0]);
    while ((count = read(pair[1], block, sizeof block)) > 0) sent -= count;
    show("all came", sent);
    show_poll("poll empty", pair[0]);

    // Abstract names.
    struct sockaddr_un hidden = {.sun_family = AF_UNIX};
    length = sprintf(hidden.sun_path + 1, "hidden%d", getpid()) + 3;
    int secret = socket(AF_UNIX, SOCK_STREAM, 0), finder = socket(AF_UNIX, SOCK_STREAM, 0);
    show("abstract bind", bind(secret, (struct sockaddr *)&hidden, length));
    show("abstract used", bind(finder, (struct sockaddr *)&hidden, length));
    listen(secret, 1);
    show("abstract other", connect(finder, (struct sockaddr *)&hidden, length + 1));
    show("abstract connect", connect(finder, (struct sockaddr *)&hidden, length));
    close(secret);
    show("abstract is free", bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&hidden, length));
    int automatic = socket(AF_UNIX, SOCK_STREAM, 0);
    show("autobind", bind(automatic, (struct sockaddr *)&hidden, 2));
    length = sizeof hidden;
    getsockname(automatic, (struct sockaddr *)&hidden, &length);
    show("autobind length", length);
    show("too long", bind(finder, (struct sockaddr *)&hidden, 111));
    rmdir(folder);
    path_name(&name, "file");
    unlink(name.sun_path), rmdir(folder);
    return 0;
}
