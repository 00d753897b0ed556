// A server that answers what it is sent, one event at a time, for ever.
// -DTICK: it looks at the clock each second, as servers do.  -DCLIENTS=N: it ends after N clients.
// -DTHREADS: a thread for each client, which logs under two locks after the answer; -DCROSSED: in either order, a deadlock.
// -DMUTE: it never answers.  -DSTUCK: it waits for a semaphore that nobody posts, behind its first client.  -DUNIX: a Unix socket at "./server.socket".
// -DBOTH: it listens for IPv6 first, on a socket of its own, as memcached does.
#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef BOTH
static void listen_for_ipv6(const char *port) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(atoi(port)), .sin6_addr = IN6ADDR_ANY_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0), on = 1;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, (void *)&address, sizeof address) || listen(fd, 8)) exit(1);
}
#endif

static int listening(const char *port) {
#ifdef BOTH
    listen_for_ipv6(port);
#endif
#ifdef UNIX
    (void)port;
    struct sockaddr_un address = {AF_UNIX, "./server.socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
#else
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
#endif
    if (bind(fd, (void *)&address, sizeof address) || listen(fd, 8)) exit(1);
    return fd;
}

// Whether the client goes on.
static int answered(int client) {
    char bytes[64];
    ssize_t count = read(client, bytes, sizeof bytes);
    if (count <= 0) return 0;
#ifdef MUTE
    return 1;
#else
    return write(client, bytes, count) == count;
#endif
}

#ifdef THREADS
pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *serve(void *argument) {
    int client = (int)(long)argument;
    answered(client);
    close(client);
    int crossed = 0;
#ifdef CROSSED
    crossed = client % 2;
#endif
    pthread_mutex_lock(crossed ? &second : &first);
    pthread_mutex_lock(crossed ? &first : &second);
    served++;
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return 0;
}

int main(int argc, char **argv) {
    int listener = listening(argv[1]);
    for (;;) {
        pthread_t thread;
        long client = accept(listener, 0, 0);
        pthread_create(&thread, 0, serve, (void *)client);
        pthread_detach(thread);
    }
}
#else
#ifndef CLIENTS
#define CLIENTS -1
#endif

int main(int argc, char **argv) {
    int listener = listening(argv[1]), all = epoll_create1(0), left = CLIENTS, wait = -1;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(all, EPOLL_CTL_ADD, listener, &event);
#ifdef TICK
    static struct timespec now;
    wait = 1000;
#endif
    while (left) {
        struct epoll_event events[8];
        int count = epoll_wait(all, events, 8, wait);
#ifdef TICK
        clock_gettime(CLOCK_MONOTONIC, &now);
#endif
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                event.data.fd = accept(listener, 0, 0);
                epoll_ctl(all, EPOLL_CTL_ADD, event.data.fd, &event);
            } else if (!answered(fd)) {
                close(fd);
                left--;
#ifdef STUCK
                static sem_t never;
                sem_wait(&never);
#endif
            }
        }
    }
    return 0;
}
#endif
