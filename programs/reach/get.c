// An HTTP client: `get PORT PATH WORD` expects the word in what it gets.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static char heard[8192];
    char request[256];
    size_t length = 0;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&address, sizeof address)) return 1;
    int size = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\n\r\n", argv[2]);
    if (write(fd, request, size) != size) return 1;
    for (ssize_t count; (count = read(fd, heard + length, sizeof heard - 1 - length)) > 0;) length += count;
    return strstr(heard, argv[3]) == NULL;
}
