// Two threads add one to a counter that a Redis server keeps, each over a connection of its own.
//
//     allways check --peer 'db:6379=redis-server --port 6379 --save "" --appendonly no' -- ./counter
//
// Each reads the value and writes it back: one of the two updates can get lost. With -DFIXED the server adds (INCR).
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_connection(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(6379)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) exit(3);
    return fd;
}

// Sends a command and reads its answer, which is short and ends with a newline: of $2\r\n10\r\n the second line counts.
static void ask(int fd, const char *command, char *answer, int size) {
    int length = 0, lines = 1;
    if (write(fd, command, strlen(command)) != (ssize_t)strlen(command)) exit(4);
    for (;;) {
        ssize_t count = read(fd, answer + length, size - 1 - length);
        if (count <= 0) exit(5);
        length += count;
        answer[length] = 0;
        lines = answer[0] == '$' && answer[1] != '-' ? 2 : 1;
        int seen = 0;
        for (int i = 0; i < length; i++) seen += answer[i] == '\n';
        if (seen >= lines) return;
    }
}

static int value(int fd) {
    char answer[64];
    ask(fd, "GET x\r\n", answer, sizeof answer);
    return atoi(strchr(answer, '\n') + 1);
}

static void *add(void *none) {
    char answer[64];
    int fd = open_connection();
#ifdef FIXED
    ask(fd, "INCR x\r\n", answer, sizeof answer);
#else
    char command[32];
    snprintf(command, sizeof command, "SET x %d\r\n", value(fd) + 1);
    ask(fd, command, answer, sizeof answer);
#endif
    close(fd);
    return none;
}

int main(void) {
    pthread_t one, two;
    char answer[64];
    int fd = open_connection();
    ask(fd, "SET x 0\r\n", answer, sizeof answer);
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(value(fd) == 2);
    return 0;
}
