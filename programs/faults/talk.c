// A server that counts what comes over a connection, and a client that sends two bytes.
//   talk server PORT       accepts one client, reads until the end
//   talk client PORT       connects, sends two bytes, closes
// If the connection is reset, read(2) fails. -DBLIND: the server takes every end for the end of the message.
#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in place(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int serve(const char *port) {
    struct sockaddr_in address = place(port);
    int listener = socket(AF_INET, SOCK_STREAM, 0), total = 0, count;
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 1)) return 2;
    char byte;
    int client = accept(listener, 0, 0);
    while ((count = read(client, &byte, 1)) > 0) total++;
#ifndef BLIND
    if (count < 0) return 0;
#endif
    assert(total == 2);
    return 0;
}

static int ask(const char *port) {
    struct sockaddr_in address = place(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&address, sizeof address)) return 0;
    for (int i = 0; i < 2; i++)
        if (send(fd, "x", 1, MSG_NOSIGNAL) != 1) return 0;
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    return strcmp(argv[1], "server") == 0 ? serve(argv[2]) : ask(argv[2]);
}
