/* Workers that use the kernel each in its own corner, and now and then in a common one: FAMILY says what they use. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[3][2];

static void say(int to, char what) { (void)!write(to, &what, 1); }
static char hear(int from) {
    char got = 0;
    return read(from, &got, 1) == 1 ? got : 0;
}

/* Over a pipe or a pair of one's own, then over the common one. */
static void talk(int me) {
    say(ends[me][1], 'a'), say(ends[me][1], 'b');
    hear(ends[me][0]), hear(ends[me][0]);
    say(ends[2][1], 'c');
    close(ends[me][1]);
}

static void count(int me) {
    eventfd_t value;
    eventfd_write(ends[me][0], 2), eventfd_read(ends[me][0], &value);
    eventfd_write(ends[2][0], 1);
}

static void keep(int me) {
    const char *names[] = { "one", "two" };
    struct stat about;
    char bytes[2];
    int fd = open(names[me], O_RDWR | O_CREAT | O_TRUNC, 0600);
    (void)!write(fd, "xy", 2);
    lseek(fd, 0, SEEK_SET);
    (void)!read(fd, bytes, 2);
    fstat(fd, &about), stat("none", &about);
    ftruncate(fd, 1);
    close(fd);
    rename(names[me], "three"), unlink("three");
}

/* Each its own names, all in one directory; then in one of its own. */
static void file(int me) {
    const char *names[] = { "first", "second" }, *folders[] = { "left", "right" }, *inside[] = { "left/x", "right/x" };
    const char *links[] = { "left/y", "right/y" };
    struct stat about;
    close(open(names[me], O_WRONLY | O_CREAT | O_EXCL, 0600));
    mkdir(folders[me], 0700);
    link(names[me], inside[me]), symlink("x", links[me]);
    stat(links[me], &about), chmod(inside[me], 0400);
    rename(inside[me], links[me]), unlink(links[me]);
    rmdir(folders[me]), unlink(names[me]);
}

static void multiply(int me) {
    for (int i = 0; i < 2; i++)
        if (fork() == 0) _exit(me + i);
    while (wait(0) > 0) { }
}

static void work(int me) { FAMILY(me); }

int main(void) {
    for (int i = 0; i < 3; i++) {
#if defined PAIRS
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i])) return 1;
#elif defined EVENTS
        ends[i][0] = eventfd(0, 0);
#else
        if (pipe(ends[i])) return 1;
#endif
    }
    for (int me = 0; me < 2; me++)
        if (fork() == 0) {
            work(me);
            _exit(0);
        }
    while (wait(0) > 0) { }
    return 0;
}
