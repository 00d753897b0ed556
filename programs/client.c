// A client that says one thing and expects to hear it again. -DUNIX: by the Unix socket "./server.socket".
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
#ifdef UNIX
    struct sockaddr_un address = {AF_UNIX, "./server.socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
#else
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
#endif
    char heard[5] = {0};
    if (connect(fd, (void *)&address, sizeof address)) return 1;
    if (write(fd, "ping", 4) != 4 || read(fd, heard, 4) != 4) return 2;
    return strcmp(heard, "ping") != 0;
}
