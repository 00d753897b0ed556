// The alphabet client of the papers: CONNECTIONS threads, each with a connection, over which it sends MESSAGES numbers, one after the
// other, and expects the letter of each.
//
//     allways check --peer 'server:7000=./alphabet_server' -- ./alphabet_client CONNECTIONS MESSAGES
//
// With a third argument it opens one connection more at the end, and reads until that is closed: for alphabet_order.
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int messages;

static int open_connection(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) exit(3);
    return fd;
}

static void *ask(void *thread) {
    int fd = open_connection(), first = (int)(long)thread * messages;
    for (int i = first; i < first + messages; i++) {
        char number = '0' + i, letter;
        if (write(fd, &number, 1) != 1 || read(fd, &letter, 1) != 1) exit(4);
        assert(letter == 'a' + i);
    }
    close(fd);
    return NULL;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    pthread_t threads[16];
    char end;
    int connections = atoi(words[1]);
    messages = atoi(words[2]);
    for (long i = 0; i < connections; i++) pthread_create(&threads[i], NULL, ask, (void *)i);
    for (int i = 0; i < connections; i++) pthread_join(threads[i], NULL);
    if (count > 3 && read(open_connection(), &end, 1) != 0) return 5;
    return 0;
}
