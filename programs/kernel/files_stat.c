// What stat(2) tells and how it changes.
#include "filecheck.h"

static void show(const char *name, const char *path, int flags) {
    struct stat status;
    if (fstatat(AT_FDCWD, path, &status, flags) != 0) {
        printf("%s: %s\n", name, strerrorname(errno));
        return;
    }
    printf("%s: mode %o links %ld uid %d gid %d size %ld\n", name, status.st_mode, (long)status.st_nlink, status.st_uid,
           status.st_gid, S_ISDIR(status.st_mode) ? 0 : (long)status.st_size);
}

static void show_times(const char *name, const char *path) {
    struct stat status;
    fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW);
    printf("%s: %ld.%09ld %ld.%09ld\n", name, (long)status.st_atim.tv_sec, status.st_atim.tv_nsec,
           (long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

static void as_user(void) {
    gid_t groups[1] = {100};
    if (setgroups(1, groups) != 0 || setgid(1000) != 0 || setuid(1000) != 0)
        perror("user");
    put_file("mine", "x");
    CHECK("an owner gives a file away", chown("mine", 0, -1));
    CHECK("an owner gives it to a group of its own", chown("mine", -1, 100));
    CHECK("an owner gives it to another group", chown("mine", -1, 7));
    CHECK("an owner makes it set-group-id", chmod("mine", 02755));
    show("its mode", "mine", 0);
    CHECK("an owner changes the owner to itself", chown("mine", 1000, -1));
    CHECK("a user changes another's mode", chmod("file", 0777));
    CHECK("access for writing", access("file", W_OK));
    CHECK("access for reading", access("file", R_OK));
    CHECK("execution of a file without x", access("file", X_OK));
    CHECK("a group may", access("grouped", R_OK));
    CHECK("a group may not write", access("grouped", W_OK));
}

static void real_ids(void) {
    if (setresuid(1000, 0, 0) != 0)
        perror("setresuid");
    CHECK("access asks with the real user", access("secret", R_OK));
    CHECK("eaccess asks with the effective user", faccessat(AT_FDCWD, "secret", R_OK, AT_EACCESS));
}

int main(void) {
    enter_work("files_stat");
    put_file("file", "12345");
    symlink("file", "link");
    mkdir("dir", 0750);
    mkfifo("fifo", 0640);
    show("a file", "file", 0);
    show("a link followed", "link", 0);
    show("a link", "link", AT_SYMLINK_NOFOLLOW);
    show("a directory", "dir", 0);
    show("a FIFO", "fifo", 0);
    show("nothing", "nothing", 0);
    show("an empty path", "", 0);
    show("below a file", "file/x", 0);
    CHECK("newfstatat with bad flags", syscall(SYS_newfstatat, AT_FDCWD, "file", NULL, 0x80000000));
    CHECK("stat into nowhere", syscall(SYS_stat, "file", 8));
    struct stat status, other;
    int fd = open("file", O_RDWR);
    fstat(fd, &status);
    stat("link", &other);
    TELL("one file, one number", status.st_ino == other.st_ino && status.st_dev == other.st_dev);
    CHECK("fstatat of a descriptor", fstatat(fd, "", &other, AT_EMPTY_PATH));
    TELL("the same", status.st_ino == other.st_ino);
    CHECK("chmod", chmod("file", 0640));
    CHECK("chmod through a link", chmod("link", 0644));
    CHECK("fchmod", fchmod(fd, 04755));
    show("set-user-id", "file", 0);
    CHECK("chown", chown("file", 1000, 1000));
    show("chown takes set-user-id away", "file", 0);
    CHECK("chown of nothing", chown("nothing", 1, 1));
    CHECK("lchown", lchown("link", 7, 8));
    show("the link's owner", "link", AT_SYMLINK_NOFOLLOW);
    show("the file's owner", "file", 0);
    CHECK("fchown with -1", fchown(fd, -1, 5));
    show("only the group", "file", 0);
    CHECK("fchmodat of a link itself", fchmodat(AT_FDCWD, "link", 0600, AT_SYMLINK_NOFOLLOW));
    chown("file", 0, 0);
    chmod("file", 0644);
    chmod("dir", 02775);
    chown("dir", 0, 50);
    put_file("dir/child", "x");
    mkdir("dir/sub", 0755);
    show("a file in a set-group-id directory", "dir/child", 0);
    show("a directory in it", "dir/sub", 0);
    struct timespec times[2] = {{1000, 5}, {2000, 999999999}};
    CHECK("utimensat", utimensat(AT_FDCWD, "file", times, 0));
    show_times("times", "file");
    times[0].tv_nsec = UTIME_OMIT;
    times[1] = (struct timespec){3000, 0};
    CHECK("utimensat that leaves one", utimensat(AT_FDCWD, "file", times, 0));
    show_times("times", "file");
    times[1].tv_nsec = 1000000000;
    CHECK("utimensat with a bad time", utimensat(AT_FDCWD, "file", times, 0));
    times[0] = times[1] = (struct timespec){77, 0};
    CHECK("utimensat of a link", utimensat(AT_FDCWD, "link", times, AT_SYMLINK_NOFOLLOW));
    show_times("the link's times", "link");
    show_times("the file's times", "file");
    CHECK("futimens", futimens(fd, times));
    show_times("times", "file");
    struct timeval old[2] = {{5, 6}, {7, 8}};
    CHECK("utimes", utimes("file", old));
    show_times("times", "file");
    CHECK("utimensat of nothing", utimensat(AT_FDCWD, "nothing", NULL, 0));
    fstat(fd, &status);
    stat("dir", &other);
    CHECK("write changes the time", write(fd, "x", 1));
    fstat(fd, &other);
    TELL("modified later", other.st_mtim.tv_sec > 1000000);
    struct statx extended;
    CHECK("statx", statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, &extended));
    printf("statx: mode %o links %d size %ld\n", extended.stx_mode, extended.stx_nlink, (long)extended.stx_size);
    CHECK("statx of a descriptor", statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended));
    CHECK("statx with bad flags", statx(AT_FDCWD, "file", 0x40000000, STATX_BASIC_STATS, &extended));
    CHECK("statx of nothing", statx(AT_FDCWD, "nothing", 0, STATX_BASIC_STATS, &extended));
    CHECK("access of nothing", access("nothing", F_OK));
    CHECK("access with a bad mode", access("file", 8));
    CHECK("root may write", access("file", W_OK));
    CHECK("root may not execute what nobody may", access("file", X_OK));
    chmod("file", 0645);
    CHECK("root may execute what somebody may", access("file", X_OK));
    CHECK("root may search", access("dir", X_OK));
    struct statfs system;
    CHECK("statfs", statfs("file", &system));
    TELL("longest name", system.f_namelen);
    CHECK("statfs of nothing", statfs("nothing", &system));
    CHECK("fstatfs", fstatfs(fd, &system));
    TELL("umask", umask(027));
    mkdir("masked", 0777);
    show("a directory under umask", "masked", 0);
    TELL("umask was", umask(022));
    put_file("secret", "x");
    chmod("secret", 0600);
    put_file("grouped", "x");
    chmod("grouped", 0640);
    chown("grouped", 0, 100);
    chmod(".", 0777);
    chmod("file", 0644);
    in_child(as_user);
    in_child(real_ids);
    stat("/dev/null", &status);
    printf("/dev/null: mode %o device %d:%d\n", status.st_mode, major(status.st_rdev), minor(status.st_rdev));
    int ends[2];
    pipe(ends);
    fstat(ends[0], &status);
    printf("a pipe: mode %o links %ld size %ld\n", status.st_mode, (long)status.st_nlink, (long)status.st_size);
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    fstat(pair[0], &status);
    printf("a socket: mode %o links %ld\n", status.st_mode, (long)status.st_nlink);
    leave_work();
    return 0;
}
