/* A server that follows rules, and clients that follow scripts: what a random test needs of both is in their arguments.
   program server|udp-server RULES: what is done with each of the messages a, b, c.
   program client|udp-client SCRIPT SCRIPT: a thread for each script, with a connection of its own. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in at;
static int is_udp;

/* Where each client is: its connection, or its address. */
static struct client { int fd; struct sockaddr_in at; } clients[8];
static int known, obeyed;
static char last = '-';

static void tell(struct client *to, char byte) {
    if (is_udp) sendto(to->fd, &byte, 1, 0, (void *)&to->at, sizeof to->at);
    else send(to->fd, &byte, 1, MSG_NOSIGNAL);
}

static void obey(struct client *from, char byte, const char *rules) {
    obeyed++;
    switch (rules[byte - 'a']) {
    case 'e': tell(from, byte); break;
    case 'c': tell(from, '0' + obeyed); break;
    case 'd': tell(from, byte); tell(from, '0' + obeyed); break;
    case 'l': tell(from, last); break;
    case 'b': for (int i = 0; i < known; i++) tell(&clients[i], byte); break;
    default: break;
    }
    last = byte;
}

static int serve_datagrams(const char *rules) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (void *)&at, sizeof at)) return 1;
    for (;;) {
        char byte;
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        if (recvfrom(fd, &byte, 1, 0, (void *)&from, &length) != 1) return 2;
        int i = 0;
        while (i < known && clients[i].at.sin_port != from.sin_port) i++;
        if (i == known) clients[known++] = (struct client){fd, from};
        obey(&clients[i], byte, rules);
    }
}

static int serve(const char *rules) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    for (;;) {
        struct pollfd all[9] = {{.fd = listener, .events = POLLIN}};
        for (int i = 0; i < known; i++) all[i + 1] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
        int had = known;
        poll(all, known + 1, -1);
        if (all[0].revents) clients[known].fd = accept(listener, 0, 0), tell(&clients[known++], 'h');
        for (int i = 0; i < had; i++) {
            char byte;
            if (!all[i + 1].revents) continue;
            if (read(clients[i].fd, &byte, 1) == 1) obey(&clients[i], byte, rules);
            else close(clients[i].fd), clients[i].fd = -1;
        }
    }
}

static struct side { const char *script; int fd; unsigned heard; char apart[4096]; } sides[2];

/* Opened before the threads begin, and accepted: only what they say is ordered. */
static int opened(void) {
    char greeting;
    int fd = socket(AF_INET, is_udp ? SOCK_DGRAM : SOCK_STREAM, 0);
    if (connect(fd, (void *)&at, sizeof at) || !is_udp && read(fd, &greeting, 1) != 1) _exit(251);
    return fd;
}

static void *follow(void *of) {
    struct side *side = of;
    int fd = side->fd;
    for (const char *step = side->script; *step; step++) {
        char byte = *step;
        if (byte == 'q') shutdown(fd, SHUT_WR);
        else if (byte == 'r' || byte == 'p' || byte == 't') {
            char heard = '?';
            struct pollfd one = {.fd = fd, .events = POLLIN};
            if (byte == 't') poll(&one, 1, 1000);
            ssize_t got = recv(fd, &heard, 1, byte == 'r' ? 0 : MSG_DONTWAIT);
            side->heard = side->heard * 37 + (got == 1 ? heard : got == 0 ? 1 : 2);
        } else send(fd, &byte, 1, MSG_NOSIGNAL);
    }
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    if (argc < 3 || !strstr(argv[1], "server") && argc < 4) return 250;
    is_udp = !strncmp(argv[1], "udp-", 4);
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(7000)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strstr(argv[1], "server")) return is_udp ? serve_datagrams(argv[2]) : serve(argv[2]);
    /* Who has nothing to say is not there. */
    int count = argv[3][0] ? 2 : 1;
    for (int i = 0; i < count; i++) sides[i].script = argv[2 + i], sides[i].fd = opened();
    for (int i = 0; i < count; i++) pthread_create(&threads[i], 0, follow, &sides[i]);
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
    return 1 + (sides[0].heard * 31 + sides[1].heard) % 249;
}
