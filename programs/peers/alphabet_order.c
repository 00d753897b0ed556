// The alphabet server as a witness: how many orders of openings, messages and ends are there that it can be shown?
//
//     alphabet_order CONNECTIONS MESSAGES PART
//
// All orders are numbered from 0, as words in a dictionary. When one connection more is opened than CONNECTIONS it ends, with the number of
// the order that it saw less PART * 250 as its exit code; 255 if it belongs to another part. The report of a check lists all ends.
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 4

static int connections, each;
// Which connection, by order of opening, had an event; and which client it turned out to be.
static int events[MOST * 8], event_count, client_of[MOST];

// How many orders there are of what is left: each division is exact.
static int orders(const int *left) {
    int result = 1, total = 0;
    for (int i = 0; i < connections; i++)
        for (int k = 1; k <= left[i]; k++) result = result * ++total / k;
    return result;
}

// The number of the order that was seen.
static int rank(void) {
    int left[MOST], number = 0;
    for (int i = 0; i < connections; i++) left[i] = each;
    for (int k = 0; k < event_count; k++) {
        int client = client_of[events[k]];
        for (int smaller = 0; smaller < client; smaller++)
            if (left[smaller] > 0) {
                left[smaller]--;
                number += orders(left);
                left[smaller]++;
            }
        left[client]--;
    }
    return number;
}

// A message or the end of a connection: client and number are in the message.
static void hear(struct pollfd *at, int index, int messages) {
    char number;
    events[event_count++] = index;
    if (read(at->fd, &number, 1) != 1) {
        close(at->fd);
        at->fd = -1;
        return;
    }
    client_of[index] = (number - '0') / messages;
    char letter = 'a' + number - '0';
    if (write(at->fd, &letter, 1) != 1) exit(254);
}

int main(int count, char **words) {
    if (count != 4) return 253;
    int messages = atoi(words[2]), part = atoi(words[3]), opened = 0, one = 1;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    struct pollfd all[MOST + 1] = {{.fd = listener, .events = POLLIN}};
    connections = atoi(words[1]);
    each = messages + 2;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8)) return 252;
    for (;;) {
        poll(all, opened + 1, -1);
        for (int i = 1; i <= opened; i++)
            if (all[i].revents) hear(&all[i], i - 1, messages);
        if (!all[0].revents) continue;
        int fd = accept(listener, NULL, NULL);
        if (opened == connections) {
            int number = rank() - part * 250;
            return number >= 0 && number < 250 ? number : 255;
        }
        events[event_count++] = opened;
        all[++opened] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}
