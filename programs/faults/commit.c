// Two-phase commit over TCP: a coordinator asks two participants, and tells both what they agreed on.
//   commit coordinator PORT      accepts two participants, collects votes, sends the decision
//   commit participant PORT      votes yes, and waits for the decision
// A participant that has voted cannot decide alone: if the coordinator is killed then, it waits for ever.
// -DTIMID: it gives up when the connection ends, and says that it does not know (exit code 3). A coordinator still waits for
// participants that are killed before they ask.
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in place(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int coordinate(const char *port) {
    struct sockaddr_in address = place(port);
    int listener = socket(AF_INET, SOCK_STREAM, 0), participants[2];
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 2)) return 2;
    char vote, decision = 'c';
    for (int i = 0; i < 2; i++) participants[i] = accept(listener, 0, 0);
    for (int i = 0; i < 2; i++)
        if (read(participants[i], &vote, 1) != 1 || vote != 'y') decision = 'a';
    for (int i = 0; i < 2; i++) write(participants[i], &decision, 1);
    return 0;
}

static int participate(const char *port) {
    struct sockaddr_in address = place(port);
    int coordinator = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(coordinator, (void *)&address, sizeof address)) return 2;
    char decision = 0;
    if (send(coordinator, "y", 1, MSG_NOSIGNAL) != 1) return 3;
    if (read(coordinator, &decision, 1) == 1) return decision == 'c' ? 0 : 1;
#ifndef TIMID
    for (;;) pause();  // It has voted: only the coordinator knows.
#endif
    return 3;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    return strcmp(argv[1], "coordinator") == 0 ? coordinate(argv[2]) : participate(argv[2]);
}
