// A primary that proves every second that it is there, and a backup that takes over when it does not, over TCP.
//   failover primary PORT      leads, says three times that it does, and steps down
//   failover backup PORT       leads when it was told so, or has heard nothing for two seconds
// A primary that is cut off from the network for longer leads, and so does its backup.
// -DLEASE: the primary steps down when the backup has not answered for a second. One that stands still meanwhile does so too late.
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef LEASE
#define PATIENCE 1000
#else
#define PATIENCE -1
#endif

volatile int leads;

static struct sockaddr_in place(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int hears(int fd, int patience) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, patience) == 1;
}

static int lead(const char *port) {
    struct sockaddr_in address = place(port);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 1)) return 2;
    int backup = accept(listener, 0, 0);
    char word;
    leads = 1;
    for (int beat = 0; beat < 3; beat++) {
        send(backup, "b", 1, MSG_NOSIGNAL);
        if (!hears(backup, PATIENCE) || recv(backup, &word, 1, 0) != 1) {
            leads = 0;
            return 0;
        }
    }
    leads = 0;
    send(backup, "q", 1, MSG_NOSIGNAL);
    return 0;
}

static int watch(const char *port) {
    struct sockaddr_in address = place(port);
    int primary = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(primary, (void *)&address, sizeof address)) return 0;
    char word = 'b';
    while (word == 'b' && hears(primary, 2000) && recv(primary, &word, 1, 0) == 1)
        if (word == 'b') send(primary, "a", 1, MSG_NOSIGNAL);
    leads = 1;
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    return strcmp(argv[1], "primary") == 0 ? lead(argv[2]) : watch(argv[2]);
}
