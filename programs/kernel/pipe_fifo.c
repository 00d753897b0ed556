// FIFOs: who waits for whom in open(2).
#include "filecheck.h"
#include <pthread.h>

static int events(int fd) {
    struct pollfd poll_one = {.fd = fd, .events = POLLIN | POLLOUT};
    poll(&poll_one, 1, 0);
    return poll_one.revents;
}

static void *write_hello(void *path) {
    int fd = open(path, O_WRONLY);
    write(fd, "hello", 5);
    close(fd);
    return NULL;
}

static void *read_all(void *path) {
    char text[64];
    int fd = open(path, O_RDONLY);
    long total = 0;
    for (ssize_t got; (got = read(fd, text, sizeof text)) > 0;)
        total += got;
    close(fd);
    return (void *)total;
}

static void interrupted(int number) {
    (void)number;
}

int main(void) {
    enter_work("pipe_fifo");
    char text[64];
    CHECK("mkfifo", mkfifo("fifo", 0644));
    CHECK("writer that does not wait, without reader", open("fifo", O_WRONLY | O_NONBLOCK));
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    CHECK_OK("reader that does not wait", reader);
    TELL("events before any writer", events(reader));
    CHECK("read without writer", read(reader, text, 4));
    int writer = open("fifo", O_WRONLY | O_NONBLOCK);
    CHECK_OK("writer with a reader", writer);
    CHECK("read with a silent writer", read(reader, text, 4));
    CHECK("write", write(writer, "abc", 3));
    TELL("events with bytes", events(reader));
    CHECK("read", read(reader, text, 10));
    close(writer);
    TELL("events after the writer", events(reader));
    CHECK("read after the writer", read(reader, text, 10));
    writer = open("fifo", O_WRONLY);
    CHECK_OK("another writer", writer);
    TELL("events with another writer", events(reader));
    close(reader);
    signal(SIGPIPE, SIG_IGN);
    CHECK("write after the reader", write(writer, "x", 1));
    close(writer);
    int both = open("fifo", O_RDWR);
    CHECK_OK("both ends at once", both);
    CHECK("write to oneself", write(both, "self", 4));
    CHECK("read from oneself", read(both, text, 10));
    TELL("events", events(both));
    write(both, "lost", 4);
    close(both);
    reader = open("fifo", O_RDONLY | O_NONBLOCK);
    CHECK("what was left is lost", read(reader, text, 10));
    struct stat status;
    fstat(reader, &status);
    printf("fstat: mode %o\n", status.st_mode);
    CHECK("lseek", lseek(reader, 0, SEEK_CUR));
    CHECK("truncate", truncate("fifo", 0));
    close(reader);
    // A reader and a writer that wait for each other.
    pthread_t thread;
    pthread_create(&thread, NULL, write_hello, "fifo");
    reader = open("fifo", O_RDONLY);
    CHECK("read from a writer that waited", read(reader, text, sizeof text));
    CHECK("and its end", read(reader, text, sizeof text));
    pthread_join(thread, NULL);
    close(reader);
    pthread_create(&thread, NULL, read_all, "fifo");
    writer = open("fifo", O_WRONLY);
    CHECK("write to a reader that waited", write(writer, "12345", 5));
    close(writer);
    void *total;
    pthread_join(thread, &total);
    TELL("it read", (long)total);
    // A signal ends the wait in open.
    struct sigaction action = {.sa_handler = interrupted};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {.it_value = {0, 20000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    CHECK("interrupted open", open("fifo", O_RDONLY));
    CHECK("nobody is left waiting", open("fifo", O_WRONLY | O_NONBLOCK));
    CHECK("unlink", unlink("fifo"));
    CHECK("O_PATH of nothing", open("fifo", O_PATH));
    leave_work();
    return 0;
}
