// An HTTP proxy on port 8080 that keeps a connection to the backend on port 8000 for the next request, as most do.
//
//     sh build.sh proxy && allways check proxy-stale
//
// Each client is served by a thread. The backend may close a connection that is kept: Python's http.server does after an error, such as
// a 404. A request of another client that is then sent there gets lost, and this client a 502, although the backend is well. With
// -DFIXED it is sent again on a new connection, which is allowed for a GET to which nothing was answered (RFC 9110, 9.2.2).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 2
#define SIZE 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int kept = -1;

static int local(int port, int (*use)(int, const struct sockaddr *, socklen_t)) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (use(fd, (struct sockaddr *)&at, sizeof at)) exit(3);
    return fd;
}

// Takes the connection that is kept, if there is one, and keeps another instead, or none (-1).
static int exchange(int other) {
    pthread_mutex_lock(&lock);
    int fd = kept;
    kept = other;
    pthread_mutex_unlock(&lock);
    return fd;
}

static void keep(int fd) {
    int old = exchange(fd);
    if (old >= 0) close(old);
}

// Reads a head, up to its empty line, and the content that its Content-Length announces. Its length, 0 if nothing came.
static int message(int fd, char *text) {
    int length = 0, whole = SIZE;
    while (length < whole) {
        ssize_t count = recv(fd, text + length, SIZE - 1 - length, 0);
        if (count <= 0) return 0;
        text[length += count] = 0;
        char *end = strstr(text, "\r\n\r\n"), *announced = strcasestr(text, "\r\nContent-Length: ");
        if (end) whole = end + 4 - text + (announced && announced < end ? atoi(announced + 18) : 0);
    }
    return length;
}

// Says a request to the backend; the length of its answer, or 0.
static int forwarded(const char *request, int length, char *answer) {
    int reused = exchange(-1), fd = reused >= 0 ? reused : local(8000, connect);
    int count = send(fd, request, length, 0) == length ? message(fd, answer) : 0;
    if (count > 0) {
        keep(fd);
        return count;
    }
    close(fd);
#ifdef FIXED
    if (reused >= 0) return forwarded(request, length, answer);
#endif
    return 0;
}

static void *serve(void *connection) {
    int client = (int)(long)connection;
    char request[SIZE], answer[SIZE];
    int length;
    while ((length = message(client, request)) > 0) {
        int count = forwarded(request, length, answer);
        assert(count > 0 && "502 Bad Gateway");
        send(client, answer, count, 0);
    }
    close(client);
    return NULL;
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    int listener = local(8080, bind);
    listen(listener, 4);
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, serve, (void *)(long)accept(listener, NULL, NULL));
    for (int i = 0; i < CLIENTS; i++) pthread_join(threads[i], NULL);
    return 0;
}
