// Descriptors: dup, fcntl, close_range.
#include "filecheck.h"

int main(void) {
    enter_work("files_descriptor");
    char text[16];
    put_file("file", "0123456789");
    int fd = open("file", O_RDWR | O_CLOEXEC);
    CHECK("dup2 to itself", dup2(fd, fd) - fd);
    TELL("it keeps close-on-exec", fcntl(fd, F_GETFD));
    int copy = dup(fd);
    TELL("a dup has not", fcntl(copy, F_GETFD));
    CHECK("dup2", dup2(fd, 50));
    CHECK("dup2 over it", dup2(fd, 50));
    CHECK("dup2 of nothing", dup2(77, 50));
    CHECK("50 is still open", fcntl(50, F_GETFD));
    CHECK("dup2 to -1", dup2(fd, -1));
    CHECK("dup3", dup3(fd, 51, O_CLOEXEC));
    TELL("dup3 with close-on-exec", fcntl(51, F_GETFD));
    CHECK("dup3 to itself", dup3(fd, fd, 0));
    CHECK("dup3 with bad flags", dup3(fd, 52, O_APPEND));
    CHECK("F_DUPFD", fcntl(fd, F_DUPFD, 50));
    CHECK("F_DUPFD_CLOEXEC", fcntl(fd, F_DUPFD_CLOEXEC, 50));
    TELL("with close-on-exec", fcntl(53, F_GETFD));
    CHECK("F_DUPFD from -1", fcntl(fd, F_DUPFD, -1));
    CHECK("F_DUPFD of nothing", fcntl(77, F_DUPFD, 0));
    CHECK("F_SETFD", fcntl(50, F_SETFD, FD_CLOEXEC));
    TELL("set", fcntl(50, F_GETFD));
    CHECK("FIONCLEX", ioctl(50, FIONCLEX));
    TELL("unset", fcntl(50, F_GETFD));
    CHECK("FIOCLEX", ioctl(50, FIOCLEX));
    TELL("set again", fcntl(50, F_GETFD));
    CHECK("F_SETFL O_APPEND", fcntl(fd, F_SETFL, O_APPEND));
    TELL("flags", fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
    TELL("flags are shared", fcntl(copy, F_GETFL) & O_APPEND);
    CHECK("F_SETFL cannot change the mode", fcntl(fd, F_SETFL, O_WRONLY));
    TELL("still", fcntl(fd, F_GETFL) & O_ACCMODE);
    int on = 1;
    CHECK("FIONBIO", ioctl(fd, FIONBIO, &on));
    TELL("O_NONBLOCK", (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    CHECK("an unknown command", fcntl(fd, 9999, 0));
    CHECK("F_SETOWN", fcntl(fd, F_SETOWN, getpid()));
    TELL("F_GETOWN", fcntl(fd, F_GETOWN) == getpid());
    CHECK("F_GETSIG", fcntl(fd, F_GETSIG));
    CHECK("F_GETPIPE_SZ of a file", fcntl(fd, F_GETPIPE_SZ));
    CHECK("close_range for later", close_range(50, 51, CLOSE_RANGE_CLOEXEC));
    TELL("close-on-exec by it", fcntl(50, F_GETFD));
    CHECK("close_range", close_range(50, ~0U, 0));
    CHECK("closed", fcntl(50, F_GETFD));
    CHECK("backwards", close_range(5, 4, 0));
    CHECK("bad flags", close_range(50, 60, 0x80));
    close(fd);
    CHECK("a dup outlives it", lseek(copy, 0, SEEK_END));
    // A child shares positions.
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        lseek(copy, 3, SEEK_SET);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    CHECK("position moved by a child", lseek(copy, 0, SEEK_CUR));
    close(copy);
    // The lowest free number.
    int first = dup(0), second = dup(0), third = dup(0);
    close(first);
    close(second);
    CHECK("the lowest is taken first", dup(0) - first);
    CHECK("then the next", dup(0) - second);
    CHECK("then behind", dup(0) - third);
    leave_work();
    return 0;
}
