// The HTTP client of the papers: THREADS threads request a file each, all at once, over connections of their own, from port 8000.
//
//     allways check --peer 'server:8000=python3 -m http.server 8000' -- ./http_client THREADS
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char REQUEST[] = "GET /page.txt HTTP/1.0\r\n\r\n";

static void *get(void *none) {
    char answer[4096];
    size_t length = 0;
    ssize_t count;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(8000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) exit(3);
    if (write(fd, REQUEST, sizeof REQUEST - 1) != sizeof REQUEST - 1) exit(4);
    while ((count = read(fd, answer + length, sizeof answer - 1 - length)) > 0) length += count;
    close(fd);
    answer[length] = 0;
    assert(strstr(answer, " 200 OK") && strstr(answer, "A page."));
    return none;
}

int main(int count, char **words) {
    if (count != 2) return 2;
    pthread_t threads[16];
    int all = atoi(words[1]);
    for (int i = 0; i < all; i++) pthread_create(&threads[i], NULL, get, NULL);
    for (int i = 0; i < all; i++) pthread_join(threads[i], NULL);
    return 0;
}
