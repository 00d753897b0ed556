// The alternating bit protocol over UDP: a sender repeats each of three messages until it is acknowledged.
//   bit receiver PORT      delivers messages in order, acknowledges each, and waits nine seconds for more
//   bit sender PORT        sends the numbers 0, 1, 2
// It survives loss and duplication. A message that comes late is taken for a new one: the bit has only two values.
// -DNOBIT: without the bit, a message whose acknowledgement is lost is delivered twice.
#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MESSAGES 3

struct message { char bit, number; };

static int open_socket(int seconds) {
    struct timeval patience = {.tv_sec = seconds};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static struct sockaddr_in place(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int receiver(const char *port) {
    struct sockaddr_in address = place(port), from;
    int fd = open_socket(9), expected = 0;
    if (bind(fd, (void *)&address, sizeof address)) return 2;
    struct message message;
    for (socklen_t size = sizeof from; recvfrom(fd, &message, sizeof message, 0, (void *)&from, &size) > 0;) {
#ifdef NOBIT
        int is_new = 1;
#else
        int is_new = message.bit == expected % 2;
#endif
        if (is_new) {
            assert(message.number == expected);
            expected++;
        }
        sendto(fd, &message.bit, 1, 0, (void *)&from, size);
    }
    assert(expected == MESSAGES);
    return 0;
}

static int sender(const char *port) {
    struct sockaddr_in address = place(port);
    int fd = open_socket(1);
    for (int number = 0; number < MESSAGES; number++) {
        struct message message = {number % 2, number};
        char bit = 2;
        while (bit != message.bit) {
            sendto(fd, &message, sizeof message, 0, (void *)&address, sizeof address);
            while (recv(fd, &bit, 1, 0) == 1 && bit != message.bit) {}
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    return strcmp(argv[1], "receiver") == 0 ? receiver(argv[2]) : sender(argv[2]);
}
