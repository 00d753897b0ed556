// The alphabet server of the papers: to number n it answers the n-th letter. A connection is served by a thread.
//
// With an argument CONNECTIONS it ends when it has served so many; without, never.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void *serve(void *connection) {
    int fd = (int)(long)connection;
    char number;
    while (read(fd, &number, 1) == 1) {
        char letter = 'a' + number - '0';
        if (write(fd, &letter, 1) != 1) exit(4);
    }
    close(fd);
    return NULL;
}

int main(int count, char **words) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, connections = count > 1 ? atoi(words[1]) : 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    pthread_t threads[16];
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) return 3;
    for (int i = 0; connections == 0 || i < connections; i++)
        pthread_create(&threads[i % 16], NULL, serve, (void *)(long)accept(listener, NULL, NULL));
    for (int i = 0; i < connections; i++) pthread_join(threads[i], NULL);
    return 0;
}
