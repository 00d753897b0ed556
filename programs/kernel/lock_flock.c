// Locks of open descriptions: flock(2) and F_OFD_SETLK.
#include "filecheck.h"

static int ofd(int fd, int command, int type, off_t start, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, command, &lock);
}

static int shared_fd;

static void inherited(void) {
    // A child shares the description, and with it the lock.
    CHECK("a child locks what it inherited", flock(shared_fd, LOCK_EX | LOCK_NB));
    int other = open("file", O_RDWR);
    CHECK("but not by another opening", flock(other, LOCK_EX | LOCK_NB));
    CHECK("a child unlocks for both", flock(shared_fd, LOCK_UN));
}

static void waiting(void) {
    int fd = open("file", O_RDWR);
    CHECK("waiting flock", flock(fd, LOCK_SH));
    char text[8] = {0};
    pread(fd, text, 4, 0);
    printf("got it after: %s\n", text);
}

static void waiting_ofd(void) {
    int fd = open("file", O_RDWR);
    CHECK("waiting OFD lock", ofd(fd, F_OFD_SETLKW, F_WRLCK, 0, 10));
    char text[8] = {0};
    pread(fd, text, 4, 0);
    printf("got it after: %s\n", text);
}

int main(void) {
    enter_work("lock_flock");
    put_file("file", "0123456789");
    int a = open("file", O_RDWR), b = open("file", O_RDWR), c = dup(a);
    CHECK("exclusive", flock(a, LOCK_EX | LOCK_NB));
    CHECK("exclusive by another", flock(b, LOCK_EX | LOCK_NB));
    CHECK("shared by another", flock(b, LOCK_SH | LOCK_NB));
    CHECK("exclusive by a dup", flock(c, LOCK_EX | LOCK_NB));
    CHECK("to shared", flock(a, LOCK_SH | LOCK_NB));
    CHECK("shared by another now", flock(b, LOCK_SH | LOCK_NB));
    CHECK("to exclusive while shared", flock(a, LOCK_EX | LOCK_NB));
    CHECK("the failed conversion lost the lock", flock(b, LOCK_EX | LOCK_NB));
    CHECK("unlock", flock(b, LOCK_UN));
    CHECK("unlock again", flock(b, LOCK_UN));
    CHECK("no such operation", flock(b, 0));
    CHECK("two operations", flock(b, LOCK_SH | LOCK_EX));
    CHECK("bad descriptor", flock(77, LOCK_SH));
    int path = open("file", O_PATH);
    CHECK("O_PATH", flock(path, LOCK_SH));
    int reader = open("file", O_RDONLY);
    CHECK("exclusive of O_RDONLY", flock(reader, LOCK_EX | LOCK_NB));
    close(reader);
    CHECK("a close releases", flock(a, LOCK_EX | LOCK_NB));
    close(a);
    CHECK("a dup keeps it", flock(b, LOCK_EX | LOCK_NB));
    close(c);
    CHECK("the last close releases", flock(b, LOCK_EX | LOCK_NB));
    struct flock record = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int d = open("file", O_RDWR);
    CHECK("record locks do not mind", fcntl(d, F_SETLK, &record));
    record.l_type = F_UNLCK;
    fcntl(d, F_SETLK, &record);
    flock(b, LOCK_UN);
    shared_fd = open("file", O_RDWR);
    flock(shared_fd, LOCK_EX);
    in_child(inherited);
    CHECK("so it is free", flock(b, LOCK_EX | LOCK_NB));
    int directory = open(".", O_RDONLY);
    CHECK("flock of a directory", flock(directory, LOCK_EX | LOCK_NB));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(b);
        waiting();
        fflush(stdout);
        _exit(0);
    }
    usleep(20000);
    pwrite(b, "done", 4, 0);
    flock(b, LOCK_UN);
    waitpid(child, NULL, 0);
    // Open description locks: two openings in one process are two owners.
    CHECK("OFD write lock", ofd(b, F_OFD_SETLK, F_WRLCK, 0, 10));
    CHECK("by another opening", ofd(d, F_OFD_SETLK, F_WRLCK, 5, 1));
    CHECK("beside it", ofd(d, F_OFD_SETLK, F_WRLCK, 10, 5));
    struct flock ask = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
    CHECK("F_OFD_GETLK", fcntl(d, F_OFD_GETLK, &ask));
    printf("in the way: type %d start %ld length %ld pid %d\n", ask.l_type, (long)ask.l_start, (long)ask.l_len, ask.l_pid);
    record = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    CHECK("a record lock of the process", fcntl(d, F_SETLK, &record));
    CHECK("F_GETLK sees it", fcntl(d, F_GETLK, &record));
    printf("in the way: type %d pid %d\n", record.l_type, record.l_pid);
    ask = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_pid = 1};
    CHECK("l_pid must be 0", fcntl(d, F_OFD_SETLK, &ask));
    int other = open("file", O_RDWR);
    close(other);
    CHECK("another close does not release", ofd(d, F_OFD_SETLK, F_WRLCK, 5, 1));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(b);
        waiting_ofd();
        fflush(stdout);
        _exit(0);
    }
    usleep(20000);
    pwrite(b, "last", 4, 0);
    close(b);
    waitpid(child, NULL, 0);
    CHECK("closed and free", ofd(d, F_OFD_SETLK, F_WRLCK, 5, 1));
    CHECK("no leases are held", fcntl(d, F_GETLEASE));
    leave_work();
    return 0;
}
