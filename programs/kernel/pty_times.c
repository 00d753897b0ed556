// Noncanonical reads of a terminal: VMIN and VTIME together (termios(3), four cases).
#include "netcheck.h"
#include <pty.h>
#include <termios.h>

static int master, slave;

// Types one byte at each of these times, in milliseconds from now, in another process.
static pid_t type_at(const int *times) {
    fflush(stdout);
    pid_t child = fork();
    if (child) return child;
    int now = 0;
    for (; *times >= 0; times++) {
        usleep((*times - now) * 1000);
        now = *times;
        write(master, "x", 1);
    }
    _exit(0);
}

static void set_modes(int least, int tenths) {
    struct termios modes;
    tcgetattr(slave, &modes);
    cfmakeraw(&modes);
    modes.c_cc[VMIN] = least, modes.c_cc[VTIME] = tenths;
    tcsetattr(slave, TCSANOW, &modes);
    tcflush(slave, TCIFLUSH);
}

// How many bytes a read gives, and behind which tenths of a second.
static void read_typed(const char *name, int least, int tenths, int length, const int *times) {
    char bytes[100];
    set_modes(least, tenths);
    pid_t child = type_at(times);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    long got = read(slave, bytes, length);
    clock_gettime(CLOCK_MONOTONIC, &end);
    long took = (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000;
    printf("%s: %ld bytes behind %ld fifths of a second\n", name, got, (took + 20) / 200);
    waitpid(child, NULL, 0);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    openpty(&master, &slave, NULL, NULL, NULL);
    read_typed("all come", 3, 4, 10, (int[]){100, 300, 500, -1});
    read_typed("one, then silence", 3, 4, 10, (int[]){100, -1});
    read_typed("two, then silence", 3, 4, 10, (int[]){100, 300, -1});
    read_typed("late", 3, 2, 10, (int[]){700, -1});
    read_typed("each byte starts the time anew", 4, 4, 10, (int[]){100, 400, 700, -1});
    read_typed("a third too late", 3, 2, 10, (int[]){100, 200, 700, -1});
    read_typed("fewer are asked for", 5, 2, 2, (int[]){100, 200, -1});
    read_typed("no least number", 0, 3, 10, (int[]){500, -1});
    read_typed("no time", 2, 0, 10, (int[]){100, 700, -1});

    char bytes[10];
    set_modes(3, 4);
    write(master, "ab", 2);
    show("there already", read(slave, bytes, 10));
    fcntl(slave, F_SETFL, O_NONBLOCK);
    show("nothing, without waiting", read(slave, bytes, 10));
    write(master, "ab", 2);
    show("a part, without waiting", read(slave, bytes, 10));
    set_modes(3, 0);
    write(master, "ab", 2);
    show("a part, without time", read(slave, bytes, 10));
}
