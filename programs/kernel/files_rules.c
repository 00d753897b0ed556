// Rules of opening and locking that are seldom met.
#include "filecheck.h"
#include <linux/openat2.h>
#include <netinet/in.h>

static void show_mode(const char *name, const char *path) {
    struct stat stat = {0};
    lstat(path, &stat);
    printf("%s: %o, group %d\n", name, stat.st_mode, stat.st_gid);
}

static void make(const char *who) {
    printf("%s\n", who);
    umask(0);
    close(open("shared/program", O_CREAT | O_WRONLY, 02777));
    show_mode("program", "shared/program");
    close(open("shared/text", O_CREAT | O_WRONLY, 02666));
    show_mode("not executable", "shared/text");
    mkdir("shared/folder", 02777);
    show_mode("folder", "shared/folder");
    close(open("other/program", O_CREAT | O_WRONLY, 02777));
    show_mode("elsewhere", "other/program");
    unlink("shared/program"), unlink("shared/text"), rmdir("shared/folder"), unlink("other/program");
}

static void as_stranger(void) {
    setgroups(0, NULL), setresgid(1000, 1000, 1000), setresuid(1000, 1000, 1000);
    make("a stranger");
}

static void as_member(void) {
    gid_t group = 50;
    setgroups(1, &group), setresgid(1000, 1000, 1000), setresuid(1000, 1000, 1000);
    make("a member");
}

static int open_within(int folder, const char *path) {
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_NO_XDEV};
    return syscall(SYS_openat2, folder, path, &how, sizeof how);
}

static void file_systems(void) {
    int root = open("/", O_RDONLY), proc = open("/proc", O_RDONLY), here = open(".", O_RDONLY);
    CHECK_OK("a folder", open_within(root, "usr/bin"));
    CHECK_OK("into /proc", open_within(root, "proc/self/status"));
    CHECK_OK("into /dev", open_within(root, "dev/null"));
    CHECK_OK("within /proc", open_within(proc, "self/status"));
    CHECK_OK("out of /proc", open_within(proc, "../usr"));
    CHECK_OK("out by a jump", open_within(proc, "self/cwd"));
    CHECK_OK("an own file", open_within(here, "own"));
    CHECK_OK("by a link", open_within(here, "link"));
    CHECK_OK("to a link that leads away", open_within(here, "away"));
}

int main(void) {
    enter_work("files-rules");
    mkdir("shared", 0777), chown("shared", 0, 50), chmod("shared", 02777);
    mkdir("other", 0777), chmod("other", 0777);
    make("the superuser");
    in_child(as_stranger);
    in_child(as_member);
    umask(022);
    put_file("own", "text"), symlink("own", "link"), symlink("/proc/self/status", "away");
    file_systems();
    int file = open("own", O_RDWR), again = open("own", O_RDWR);
    CHECK("an old kind of lock", flock(file, 32 | LOCK_EX));
    CHECK("is none", flock(again, LOCK_EX | LOCK_NB));
    int socket_v4 = socket(AF_INET, SOCK_STREAM, 0), value;
    socklen_t length = sizeof value;
    CHECK("a level that is none", getsockopt(socket_v4, 500, 1, &value, &length));
    CHECK("the same, to set", setsockopt(socket_v4, 500, 1, &value, length));
    CHECK("a level of another protocol", getsockopt(socket_v4, IPPROTO_UDP, 1, &value, &length));
    CHECK("a number that is none", getsockopt(socket_v4, IPPROTO_IP, 9999, &value, &length));
    leave_work();
}
