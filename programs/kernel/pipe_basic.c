// Pipes: room, ends, errors, events.
#include "filecheck.h"

static int got_signal;

static void note(int number) {
    got_signal = number;
}

static int events(int fd) {
    struct pollfd poll_one = {.fd = fd, .events = POLLIN | POLLOUT};
    poll(&poll_one, 1, 0);
    return poll_one.revents;
}

// Writes of one size until the pipe is full: how many bytes.
static long fill(int fd, int size) {
    static char bytes[70000];
    long total = 0;
    for (ssize_t wrote; (wrote = write(fd, bytes, size)) > 0;)
        total += wrote;
    return total;
}

static long drain(int fd) {
    static char bytes[70000];
    long total = 0;
    for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0;)
        total += got;
    return total;
}

static int ends[2];

static void write_much(void) {
    close(ends[0]);
    static char bytes[200000];
    memset(bytes, 'x', sizeof bytes);
    CHECK("a long write", write(ends[1], bytes, sizeof bytes));
}

static void no_reader(void) {
    int own[2];
    pipe(own);
    close(own[0]);
    write(own[1], "x", 1);
    printf("not reached\n");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    char text[70000];
    CHECK("pipe", pipe(ends));
    TELL("descriptors", ends[1] - ends[0]);
    CHECK("write", write(ends[1], "hello", 5));
    CHECK("read of the writing end", read(ends[1], text, 1));
    CHECK("write of the reading end", write(ends[0], "x", 1));
    int available;
    CHECK("FIONREAD", ioctl(ends[0], FIONREAD, &available));
    TELL("bytes", available);
    CHECK("read of less", read(ends[0], text, 2));
    CHECK("read of the rest", read(ends[0], text, 10));
    CHECK("read of nothing", read(ends[0], text, 0));
    CHECK("write of nothing", write(ends[1], text, 0));
    CHECK("lseek", lseek(ends[0], 0, SEEK_SET));
    CHECK("pread", pread(ends[0], text, 1, 0));
    CHECK("pwrite", pwrite(ends[1], text, 1, 0));
    CHECK("fsync", fsync(ends[1]));
    CHECK("ftruncate", ftruncate(ends[1], 0));
    CHECK("tcgetattr", ioctl(ends[0], 0x5401, text));
    TELL("flags of the reading end", fcntl(ends[0], F_GETFL));
    TELL("flags of the writing end", fcntl(ends[1], F_GETFL));
    TELL("events when empty, reading", events(ends[0]));
    TELL("events when empty, writing", events(ends[1]));
    write(ends[1], "x", 1);
    TELL("events with a byte, reading", events(ends[0]));
    read(ends[0], text, 1);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    CHECK("read when empty", read(ends[0], text, 1));
    TELL("room", fcntl(ends[1], F_GETPIPE_SZ));
    TELL("filled by single bytes", fill(ends[1], 1));
    CHECK("write when full", write(ends[1], "x", 1));
    TELL("events when full, writing", events(ends[1]));
    CHECK("read of one", read(ends[0], text, 1));
    CHECK("write after one", write(ends[1], "x", 1));
    CHECK("read of a page", read(ends[0], text, 4096));
    TELL("events after a page, writing", events(ends[1]));
    CHECK("write after a page", write(ends[1], "x", 1));
    TELL("drained", drain(ends[0]));
    TELL("filled by 1000", fill(ends[1], 1000));
    TELL("drained", drain(ends[0]));
    TELL("filled by 3000", fill(ends[1], 3000));
    TELL("drained", drain(ends[0]));
    TELL("filled by 4096", fill(ends[1], 4096));
    TELL("drained", drain(ends[0]));
    TELL("filled by 5000", fill(ends[1], 5000));
    TELL("drained", drain(ends[0]));
    CHECK("a write longer than the room", write(ends[1], text, 70000));
    CHECK("F_SETPIPE_SZ below what is in it", fcntl(ends[1], F_SETPIPE_SZ, 4096));
    TELL("drained", drain(ends[0]));
    CHECK("F_SETPIPE_SZ", fcntl(ends[1], F_SETPIPE_SZ, 4096));
    TELL("filled by 1000", fill(ends[1], 1000));
    TELL("drained", drain(ends[0]));
    CHECK("F_SETPIPE_SZ rounds", fcntl(ends[1], F_SETPIPE_SZ, 5000));
    CHECK("F_SETPIPE_SZ of nothing", fcntl(ends[1], F_SETPIPE_SZ, 0));
    CHECK("F_SETPIPE_SZ of a file", fcntl(open("/dev/null", O_RDONLY), F_SETPIPE_SZ, 4096));
    CHECK("F_SETPIPE_SZ of one MiB", fcntl(ends[1], F_SETPIPE_SZ, 1 << 20));
    write(ends[1], "last", 4);
    close(ends[1]);
    TELL("events with bytes and no writer", events(ends[0]));
    CHECK("read of what is left", read(ends[0], text, 10));
    CHECK("read at the end", read(ends[0], text, 10));
    TELL("events at the end", events(ends[0]));
    close(ends[0]);
    pipe(ends);
    close(ends[0]);
    signal(SIGPIPE, note);
    CHECK("write without reader", write(ends[1], "x", 1));
    TELL("signal", got_signal);
    TELL("events without reader", events(ends[1]));
    signal(SIGPIPE, SIG_IGN);
    CHECK("write without reader, ignored", write(ends[1], "x", 1));
    CHECK("write of nothing without reader", write(ends[1], "x", 0));
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    int status = in_child(no_reader);
    TELL("killed by", WTERMSIG(status));
    pipe(ends);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        write_much();
        fflush(stdout);
        _exit(0);
    }
    close(ends[1]);
    TELL("read all of it", drain(ends[0]));
    waitpid(child, NULL, 0);
    close(ends[0]);
    CHECK("pipe2", pipe2(ends, O_NONBLOCK | O_CLOEXEC));
    TELL("close on exec", fcntl(ends[0], F_GETFD));
    CHECK("it does not wait", read(ends[0], text, 1));
    CHECK("pipe2 with bad flags", pipe2(ends, O_APPEND));
    CHECK("pipe2 into nowhere", syscall(SYS_pipe2, 8, 0));
    int next = dup(0);
    TELL("the descriptors were taken back", next - ends[1]);
    char proc[64];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", ends[1]);
    int again = open(proc, O_RDONLY | O_NONBLOCK);
    CHECK_OK("opened again for reading", again);
    write(ends[1], "both", 4);
    CHECK("read by the new end", read(again, text, 10));
    struct iovec pieces[2] = {{"scatter", 7}, {"ed", 2}};
    CHECK("writev", writev(ends[1], pieces, 2));
    CHECK("read", read(ends[0], text, 100));
    CHECK("read into nowhere", read(ends[0], (void *)8, 1));
    CHECK("write from nowhere", write(ends[1], (void *)8, 1));
    return 0;
}
