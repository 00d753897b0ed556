// Bytes through a connection, as JNuke's first measurement had them: a server that swallows them, and a client that sends TOTAL of them in
// blocks of BLOCK.
//
//     blocks serve BLOCK PORT
//     blocks send TOTAL BLOCK PORT
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char data[65536];

static int local(int (*use)(int, const struct sockaddr *, socklen_t), int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (use(fd, (struct sockaddr *)&at, sizeof at)) exit(3);
    return fd;
}

// Swallows what one connection brings, in blocks of the same size, and says so with a byte at its end.
static int serve(long block, int port) {
    int listener = local(bind, port);
    if (listen(listener, 1)) return 4;
    int fd = accept(listener, NULL, NULL);
    while (read(fd, data, block) > 0) {}
    return write(fd, "e", 1) != 1;
}

static int send_all(long total, long block, int port) {
    int fd = local(connect, port);
    for (long sent = 0; sent < total; sent += block)
        for (long part = 0; part < block;) {
            ssize_t count = write(fd, data, block - part);
            if (count <= 0) return 5;
            part += count;
        }
    shutdown(fd, SHUT_WR);
    return read(fd, data, 1) != 1;
}

int main(int count, char **words) {
    if (count == 4 && strcmp(words[1], "serve") == 0) return serve(atol(words[2]), atoi(words[3]));
    if (count == 5 && strcmp(words[1], "send") == 0) return send_all(atol(words[2]), atol(words[3]), atoi(words[4]));
    return 2;
}
