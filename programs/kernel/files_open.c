// What open(2) and its flags do.
#include "filecheck.h"

static void as_nobody(void) {
    if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        perror("nobody");
    CHECK("nobody reads a private file", open("private", O_RDONLY));
    CHECK("nobody writes a public file", open("public", O_WRONLY));
    CHECK_OK("nobody reads a public file", open("public", O_RDONLY));
    CHECK("nobody creates in a closed directory", open("new", O_WRONLY | O_CREAT, 0644));
    CHECK("nobody looks into a closed directory", open("closed/inside", O_RDONLY));
    CHECK("nobody opens with O_NOATIME", open("public", O_RDONLY | O_NOATIME));
    CHECK("nobody truncates while reading", open("public", O_RDONLY | O_TRUNC));
    CHECK("nobody unlinks in a closed directory", unlink("public"));
    CHECK("nobody changes a mode", chmod("public", 0777));
    CHECK("nobody changes an owner", chown("public", 65534, -1));
    CHECK("nobody sets the time to now", utimensat(AT_FDCWD, "public", NULL, 0));
    struct timespec times[2] = {{1, 0}, {2, 0}};
    CHECK("nobody sets another time", utimensat(AT_FDCWD, "public", times, 0));
    CHECK("nobody makes a device", mknod("device", S_IFCHR | 0666, makedev(1, 3)));
    CHECK("nobody changes the root", chroot("/"));
}

int main(void) {
    enter_work("files_open");
    put_file("file", "hello");
    mkdir("dir", 0755);
    CHECK_OK("symlink", symlink("file", "link"));
    CHECK_OK("dangling", symlink("nothing", "dangling"));
    CHECK("open what is not there", open("nothing", O_RDONLY));
    CHECK("open below a file", open("file/x", O_RDONLY));
    CHECK("open an empty path", open("", O_RDONLY));
    CHECK("open a directory for writing", open("dir", O_WRONLY));
    CHECK("open a directory with O_CREAT", open("dir", O_RDONLY | O_CREAT, 0644));
    CHECK("create with a slash", open("new/", O_WRONLY | O_CREAT, 0644));
    CHECK("open a file with a slash", open("file/", O_RDONLY));
    CHECK("O_EXCL on a file", open("file", O_WRONLY | O_CREAT | O_EXCL, 0644));
    CHECK("O_EXCL on a link", open("link", O_WRONLY | O_CREAT | O_EXCL, 0644));
    CHECK("O_EXCL on a dangling link", open("dangling", O_WRONLY | O_CREAT | O_EXCL, 0644));
    CHECK("O_NOFOLLOW on a link", open("link", O_RDONLY | O_NOFOLLOW));
    CHECK("O_DIRECTORY on a file", open("file", O_RDONLY | O_DIRECTORY));
    CHECK("O_DIRECTORY and O_NOFOLLOW on a link", open("link", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    CHECK_OK("create through a dangling link", open("dangling", O_WRONLY | O_CREAT, 0644));
    CHECK("the target exists now", access("nothing", F_OK));
    int path = open("link", O_PATH | O_NOFOLLOW);
    char text[16] = {0};
    CHECK("read of O_PATH", read(path, text, 4));
    CHECK("fchmod of O_PATH", fchmod(path, 0600));
    CHECK("O_PATH link by readlinkat", readlinkat(path, "", text, sizeof text));
    printf("its text: %s\n", text);
    TELL("O_PATH flags", fcntl(path, F_GETFL) == (O_PATH | O_NOFOLLOW));
    struct stat status;
    CHECK("fstat of O_PATH", fstat(path, &status));
    TELL("it is a link", S_ISLNK(status.st_mode));
    int fd = open("file", O_WRONLY);
    CHECK("read of O_WRONLY", read(fd, text, 1));
    CHECK("bad access mode reads", read(open("file", 3), text, 1));
    int reader = open("file", O_RDONLY);
    CHECK("write of O_RDONLY", write(reader, "x", 1));
    TELL("F_GETFL of O_RDONLY", fcntl(reader, F_GETFL) & O_ACCMODE);
    close(fd);
    CHECK("read of closed", read(fd, text, 1));
    CHECK("close of closed", close(fd));
    CHECK("close of -1", close(-1));
    fd = open("file", O_RDWR | O_TRUNC);
    CHECK("size after O_TRUNC", lseek(fd, 0, SEEK_END));
    fd = open(".", O_RDWR | O_TMPFILE, 0600);
    CHECK("write to a file without name", write(fd, "unnamed", 7));
    fstat(fd, &status);
    TELL("its links", status.st_nlink);
    char proc[64];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    CHECK("give it a name", linkat(AT_FDCWD, proc, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
    show_file("named file", "named");
    fstat(fd, &status);
    TELL("its links now", status.st_nlink);
    CHECK("O_TMPFILE for reading", open(".", O_RDONLY | O_TMPFILE, 0600));
    CHECK("O_TMPFILE in a file", open("file", O_RDWR | O_TMPFILE, 0600));
    umask(077);
    fd = open("masked", O_WRONLY | O_CREAT, 0666);
    fstat(fd, &status);
    printf("mode under umask: %o\n", status.st_mode);
    umask(022);
    fd = open("readonly", O_RDWR | O_CREAT, 0400);
    CHECK("write to a new read-only file", write(fd, "x", 1));
    fd = creat("created", 0640);
    fstat(fd, &status);
    printf("mode of creat: %o\n", status.st_mode);
    struct rlimit limit = {20, 1024};
    setrlimit(RLIMIT_NOFILE, &limit);
    while ((fd = open("file", O_RDONLY)) >= 0)
        ;
    CHECK("too many descriptors", open("file", O_RDONLY));
    CHECK("dup too many", dup(0));
    CHECK("dup2 too far", dup2(0, 20));
    for (fd = 3; fd < 20; fd++)
        close(fd);
    CHECK("the lowest descriptor", open("file", O_RDONLY));
    put_file("private", "secret");
    chmod("private", 0600);
    put_file("public", "known");
    mkdir("closed", 0700);
    put_file("closed/inside", "x");
    in_child(as_nobody);
    leave_work();
    return 0;
}
