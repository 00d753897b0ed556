// A client of Redis or memcached that adds one: `kv PORT redis|memcached [cured]`. It reads and writes, or has the server add
// (cured); whoever is last looks whether both additions are there.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fd;

// Says a line, and hears one answer: the number in it, or -1.
static int ask(const char *line, const char *marks_end) {
    char heard[256] = {0};
    size_t length = 0;
    if (write(fd, line, strlen(line)) < 0) exit(1);
    do {
        ssize_t count = read(fd, heard + length, sizeof heard - 1 - length);
        if (count <= 0) exit(1);
        length += count;
    } while (!strstr(heard, marks_end));
    const char *number = heard[0] == 'V' ? strchr(heard, '\n') + 1 : heard[0] == '$' && heard[1] != '-' ? strchr(heard, '\n') + 1 : heard[0] == ':' ? heard + 1 : heard;
    return *number >= '0' && *number <= '9' ? atoi(number) : -1;
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int is_redis = strcmp(argv[2], "redis") == 0, is_cured = argc > 3, sum;
    char line[64];
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&address, sizeof address)) return 1;
    if (is_redis) {
        if (is_cured) ask("INCR a\r\n", "\r\n");
        else {
            sum = ask("GET a\r\n", "\r\n");
            snprintf(line, sizeof line, "SET a %d\r\n", (sum < 0 ? 0 : sum) + 1);
            ask(line, "\r\n");
        }
        return ask("INCR done\r\n", "\r\n") == 2 && ask("GET a\r\n", "\r\n") != 2;
    }
    ask("add a 0 0 1\r\n0\r\n", "STORED\r\n");
    ask("add done 0 0 1\r\n0\r\n", "STORED\r\n");
    if (is_cured) ask("incr a 1\r\n", "\r\n");
    else {
        sum = ask("get a\r\n", "END\r\n") + 1;
        snprintf(line, sizeof line, "set a 0 0 1\r\n%d\r\n", sum);
        ask(line, "STORED\r\n");
    }
    return ask("incr done 1\r\n", "\r\n") == 2 && ask("get a\r\n", "END\r\n") != 2;
}
