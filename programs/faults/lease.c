// A lock server over UDP, and its clients.
//   lease server PORT      grants the lock to one client after the other
//   lease client PORT      asks for the lock, uses a file that only its holder may use, and gives the lock back
// The server takes the lock back after a second: a client may die with it. But one that stands still for longer comes back and
// believes that it still holds the lock.
// -DFOREVER: the server waits until the lock is given back: whoever dies with it blocks the others.
#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef FOREVER
#define LEASE -1
#else
#define LEASE 1000
#endif

static struct sockaddr_in place(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int serve(const char *port) {
    struct sockaddr_in address = place(port), from, holder, waiter;
    int fd = socket(AF_INET, SOCK_DGRAM, 0), is_held = 0, is_waited_for = 0;
    if (bind(fd, (void *)&address, sizeof address)) return 2;
    for (;;) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        char word = 'r';
        if (poll(&poll_fd, 1, is_held ? LEASE : -1) == 1) {
            socklen_t size = sizeof from;
            recvfrom(fd, &word, 1, 0, (void *)&from, &size);
            if (word == 'r' && (!is_held || from.sin_port != holder.sin_port)) continue;
        }
        if (word == 'a' && is_held) {
            waiter = from;
            is_waited_for = 1;
            continue;
        }
        is_held = word == 'a' || is_waited_for;
        holder = word == 'a' ? from : waiter;
        is_waited_for = 0;
        if (is_held) sendto(fd, "g", 1, 0, (void *)&holder, sizeof holder);
    }
}

static int use(const char *port) {
    struct sockaddr_in address = place(port);
    int fd = socket(AF_INET, SOCK_DGRAM, 0), file;
    char word;
    sendto(fd, "a", 1, 0, (void *)&address, sizeof address);
    recv(fd, &word, 1, 0);
    file = open("used", O_CREAT | O_RDWR, 0600);
    assert(flock(file, LOCK_EX | LOCK_NB) == 0 && "nobody else uses it");
    flock(file, LOCK_UN);
    sendto(fd, "r", 1, 0, (void *)&address, sizeof address);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    return strcmp(argv[1], "server") == 0 ? serve(argv[2]) : use(argv[2]);
}
