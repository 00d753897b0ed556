// Files that run cannot be written, files being written cannot run; long transfers.
#include "filecheck.h"

static void copy_self(const char *path) {
    int in = open("/proc/self/exe", O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    char bytes[65536];
    for (ssize_t got; (got = read(in, bytes, sizeof bytes)) > 0;)
        if (write(out, bytes, got) != got)
            perror("copy");
    close(in);
    close(out);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        // The copy: says that it runs, then waits until it may end.
        char token;
        if (write(1, "r", 1) != 1)
            return 1;
        return read(0, &token, 1) == 1 ? 7 : 1;
    }
    enter_work("files_busy");
    copy_self("copy");
    int to[2], from[2];
    pipe(to);
    pipe(from);
    pid_t child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl("./copy", "copy", "x", NULL);
        _exit(127);
    }
    char token;
    read(from[0], &token, 1);
    CHECK("write to a running program", open("copy", O_WRONLY));
    CHECK("truncate it", truncate("copy", 0));
    CHECK_OK("read it", open("copy", O_RDONLY));
    CHECK("chmod it", chmod("copy", 0700));
    CHECK("rename it", rename("copy", "renamed"));
    CHECK("unlink it", unlink("renamed"));
    write(to[1], "x", 1);
    int status;
    waitpid(child, &status, 0);
    TELL("it ended as it should", WEXITSTATUS(status));
    copy_self("copy");
    int writer = open("copy", O_WRONLY);
    CHECK("execute what is being written", execl("./copy", "copy", "x", NULL));
    close(writer);
    CHECK("execute a directory", execl(".", "x", NULL));
    CHECK("execute nothing", execl("./nothing", "x", NULL));
    chmod("copy", 0644);
    CHECK("execute without permission", execl("./copy", "x", NULL));
    put_file("text", "no program");
    chmod("text", 0755);
    CHECK("execute a text", execl("./text", "x", NULL));
    // Several megabytes at once.
    size_t size = 5 << 20;
    char *bytes = malloc(size), *again = malloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = i * 31 + (i >> 12);
    int fd = open("large", O_RDWR | O_CREAT, 0644);
    CHECK("a long write", write(fd, bytes, size));
    CHECK("a long pread", pread(fd, again, size, 0));
    TELL("the same", memcmp(bytes, again, size) == 0);
    CHECK("a long pread from the middle", pread(fd, again, size, size / 2 + 1));
    TELL("the same", memcmp(bytes + size / 2 + 1, again, size / 2 - 1) == 0);
    lseek(fd, 0, SEEK_SET);
    struct iovec pieces[3] = {{again, 1}, {again + 1, 3 << 20}, {again + 1 + (3 << 20), size}};
    memset(again, 0, size);
    CHECK("a long readv", readv(fd, pieces, 2));
    TELL("the same", memcmp(bytes, again, 1 + (3 << 20)) == 0);
    CHECK("position", lseek(fd, 0, SEEK_CUR));
    CHECK("a long read of zeros", read(open("/dev/zero", O_RDONLY), again, size));
    TELL("zeros", again[0] == 0 && again[size - 1] == 0);
    CHECK("a long write to nothing", write(open("/dev/null", O_WRONLY), bytes, size));
    int other = open("second", O_RDWR | O_CREAT, 0644);
    lseek(fd, 0, SEEK_SET);
    CHECK("a long sendfile", sendfile(other, fd, NULL, size));
    CHECK("a long copy_file_range", copy_file_range(fd, &(loff_t){0}, other, NULL, size, 0));
    CHECK("both in one", lseek(other, 0, SEEK_END));
    leave_work();
    return 0;
}
