// Pseudo-terminals: line editing, echo, modes.
#include "netcheck.h"
#include <pty.h>
#include <termios.h>

static void print_bytes(const char *bytes, long count) {
    for (long i = 0; i < count; i++)
        if (bytes[i] >= ' ' && bytes[i] < 127 && bytes[i] != '\\') putchar(bytes[i]);
        else printf("\\%03o", (unsigned char)bytes[i]);
}

// What can be read now.
static void show_bytes(const char *name, int fd) {
    char buffer[4096];
    struct pollfd entry = {fd, POLLIN, 0};
    long count = poll(&entry, 1, 200) > 0 ? read(fd, buffer, sizeof buffer) : -2;
    printf("%s: %ld '", name, count);
    print_bytes(buffer, count);
    printf("' %s\n", count == -1 ? strerrorname_np(errno) : "");
    fflush(stdout);
}

static void type(int fd, const char *text) { write(fd, text, strlen(text)); }

int main(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    show("open", master >= 0);
    int number = -1, locked = -1;
    show("number", ioctl(master, TIOCGPTN, &number));
    show("grant", grantpt(master));
    char *path = ptsname(master);
    show("path", strncmp(path, "/dev/pts/", 9));
    show("locked", open(path, O_RDWR | O_NOCTTY));
    show("unlock", unlockpt(master));
    int slave = open(path, O_RDWR | O_NOCTTY);
    show("open slave", slave >= 0);
    show("a terminal", isatty(slave));
    show("master is one, too", isatty(master));
    show("a pipe is none", (isatty(eventfd(0, 0)), errno == ENOTTY || errno == EINVAL));
    char name[64];
    show("name", ttyname_r(slave, name, sizeof name) || strcmp(name, path));
    struct termios modes;
    show("modes", tcgetattr(slave, &modes));
    printf("modes: %x %x %x %x\n", modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag);
    printf("keys:");
    for (int i = 0; i < 17; i++) printf(" %d", modes.c_cc[i]);
    printf("\n");
    struct winsize size = {0};
    show("size", ioctl(slave, TIOCGWINSZ, &size));
    printf("size: %d %d\n", size.ws_row, size.ws_col);
    size = (struct winsize){24, 80, 0, 0};
    show("set size", ioctl(master, TIOCSWINSZ, &size));
    memset(&size, 0, sizeof size);
    ioctl(slave, TIOCGWINSZ, &size);
    printf("size: %d %d\n", size.ws_row, size.ws_col);
    show("no foreground", tcgetpgrp(slave));
    show("no session", tcgetsid(slave));

    show_poll("poll quiet slave", slave);
    show_poll("poll quiet master", master);
    type(master, "half");
    show_poll("poll half a line", slave);
    show_bytes("echo", master);
    type(master, " line\r");
    show_bytes("line", slave);
    show_bytes("echo", master);
    type(master, "abX\177c\n");
    show_bytes("erased", slave);
    show_bytes("echo of erasing", master);
    type(master, "one two\027three\n");
    show_bytes("word erased", slave);
    show_bytes("echo of it", master);
    type(master, "wrong\025right\n");
    show_bytes("line erased", slave);
    show_bytes("echo of it", master);
    type(master, "a\026\003b\n");
    show_bytes("literal", slave);
    show_bytes("echo of it", master);
    type(master, "first\nsecond\n");
    show_bytes("one line at a time", slave);
    show_bytes("the next", slave);
    show_bytes("echo", master);
    type(master, "no newline\004");
    show_bytes("end of file key", slave);
    type(master, "\004");
    show_bytes("end of file", slave);
    show_bytes("echo", master);
    type(master, "split\n");
    char few[3];
    show("a part", read(slave, few, 3));
    show_bytes("the rest", slave);
    show_bytes("echo", master);
    type(master, "\001\033x\t|\n");
    show_bytes("control characters", slave);
    show_bytes("their echo", master);

    show("write", write(slave, "out\nput\n", 8));
    show_bytes("output", master);
    write(slave, "\ttab\r\n", 6);
    show_bytes("output", master);
    modes.c_oflag &= ~OPOST;
    tcsetattr(slave, TCSANOW, &modes);
    write(slave, "raw\n", 4);
    show_bytes("raw output", master);
    modes.c_lflag &= ~ECHO;
    show("no echo", tcsetattr(slave, TCSADRAIN, &modes));
    type(master, "secret\n");
    show_bytes("secret", slave);
    show_bytes("nothing shown", master);
    type(master, "thrown away\n");
    poll(&(struct pollfd){slave, POLLIN, 0}, 1, -1);
    show("flush", tcsetattr(slave, TCSAFLUSH, &modes));
    nonblocking(slave);
    show("nothing", read(slave, few, 1));

    cfmakeraw(&modes);
    modes.c_cc[VMIN] = 1, modes.c_cc[VTIME] = 0;
    tcsetattr(slave, TCSANOW, &modes);
    type(master, "raw\r\003\177");
    show_bytes("raw input", slave);
    show_bytes("not shown", master);
    modes.c_cc[VMIN] = 3;
    tcsetattr(slave, TCSANOW, &modes);
    type(master, "ab");
    struct pollfd entry = {slave, POLLIN, 0};
    show("below the minimum", poll(&entry, 1, 20));
    type(master, "c");
    show("at the minimum", poll(&entry, 1, 1000));
    show_bytes("all three", slave);
    modes.c_cc[VMIN] = 0, modes.c_cc[VTIME] = 1;
    tcsetattr(slave, TCSANOW, &modes);
    fcntl(slave, F_SETFL, O_RDWR);
    show("time is over", read(slave, few, 3));
    int count = -1;
    type(master, "12345");
    poll(&entry, 1, 1000);
    ioctl(slave, FIONREAD, &count);
    show("FIONREAD", count);
    show("flush input", tcflush(slave, TCIFLUSH));
    ioctl(slave, FIONREAD, &count);
    show("FIONREAD", count);
    show("bad flush", tcflush(slave, 9));
    show("drain", tcdrain(slave));
    show("break", tcsendbreak(slave, 0));

    write(slave, "last", 4);
    close(slave);
    show_bytes("last words", master);
    show_poll("poll left", master);
    show("slave has left", read(master, few, 1));
    slave = open(path, O_RDWR | O_NOCTTY);
    show_poll("poll again", master);
    nonblocking(master);
    show("nothing yet", read(master, few, 1));
    close(master);
    show_poll("poll cut", slave);
    show("read cut", read(slave, few, 1));
    show("write cut", write(slave, "x", 1));
    show("gone", open(path, O_RDWR));
    int pair[2];
    show("openpty", openpty(&pair[0], &pair[1], NULL, NULL, NULL));
    return 0;
}
