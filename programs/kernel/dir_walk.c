// How paths are followed.
#include "filecheck.h"
#include <linux/openat2.h>

static long open_how(int directory, const char *path, uint64_t flags, uint64_t resolve) {
    struct open_how how = {.flags = flags, .resolve = resolve};
    return syscall(SYS_openat2, directory, path, &how, sizeof how);
}

static void as_user(void) {
    if (setgroups(0, NULL) != 0 || setgid(1000) != 0 || setuid(1000) != 0)
        perror("user");
    CHECK("through a closed directory", access("closed/open/file", F_OK));
    CHECK("through one that only opens", access("through/file", F_OK));
    CHECK("list one that only opens", open("through", O_RDONLY));
    CHECK("dots out of a closed directory", access("closed/..", F_OK));
}

int main(void) {
    enter_work("dir_walk");
    mkdir("a", 0755);
    mkdir("a/b", 0755);
    put_file("a/b/file", "deep");
    put_file("file", "top");
    CHECK("slashes", access("a//b///file", F_OK));
    CHECK("dots", access("./a/./b/../b/file", F_OK));
    CHECK("above the root", access("/../../tmp", F_OK));
    CHECK("dots through a file", access("file/..", F_OK));
    CHECK("dot of a file", access("file/.", F_OK));
    CHECK("through nothing", access("nothing/../file", F_OK));
    symlink("a/b", "short");
    symlink("../file", "a/up");
    symlink("short/file", "chain");
    symlink("loop2", "loop1");
    symlink("loop1", "loop2");
    symlink("self", "self");
    symlink("/tmp/allways-dir_walk/file", "absolute");
    symlink("file/", "slashed");
    symlink("a/b/", "slashdir");
    show_file("through a link", "short/file");
    show_file("a link upwards", "a/up");
    show_file("a chain of links", "chain");
    show_file("an absolute link", "absolute");
    CHECK(".. of a link is that of its target", access("short/../up", F_OK));
    CHECK("a link to a file with a slash", access("slashed", F_OK));
    CHECK("a link to a directory with a slash", access("slashdir/file", F_OK));
    CHECK("a loop of two", access("loop1", F_OK));
    CHECK("a loop of one", access("self", F_OK));
    CHECK("below a loop", access("self/x", F_OK));
    CHECK("create through a loop", open("self", O_WRONLY | O_CREAT, 0644));
    CHECK("O_NOFOLLOW in the middle is nothing", access("short/file", F_OK));
    struct stat status;
    CHECK("lstat of a loop", lstat("self", &status));
    CHECK("lstat of a link with a slash", lstat("short/", &status));
    TELL("follows it", S_ISDIR(status.st_mode));
    CHECK("unlink of a link with a slash", unlink("short/"));
    CHECK("rmdir of a link", rmdir("short"));
    CHECK("rmdir of a link with a slash", rmdir("short/"));
    CHECK("rename of a link moves the link", rename("chain", "chained"));
    CHECK("it is still a link", readlink("chained", (char[64]){0}, 64));
    // Forty links are followed, not forty-one.
    char name[300], before[300];
    put_file("l0", "end");
    for (int i = 1; i <= 41; i++) {
        snprintf(before, sizeof before, "l%d", i - 1);
        snprintf(name, sizeof name, "l%d", i);
        symlink(before, name);
    }
    CHECK("forty links", access("l40", F_OK));
    CHECK("forty-one links", access("l41", F_OK));
    memset(name, 'n', 256);
    name[256] = 0;
    CHECK("a name of 256 bytes", access(name, F_OK));
    CHECK("making it", mkdir(name, 0755));
    name[255] = 0;
    CHECK("a name of 255 bytes", access(name, F_OK));
    CHECK("making it", mkdir(name, 0755));
    char *path = malloc(5000);
    memset(path, '/', 4999);
    path[4998] = '.';
    path[4999] = 0;
    CHECK("a path of 4999 bytes", access(path, F_OK));
    path[4094] = '.';
    path[4095] = 0;
    CHECK("a path of 4095 bytes", access(path, F_OK));
    CHECK("a path in no memory", access((char *)8, F_OK));
    int a = open("a", O_RDONLY | O_DIRECTORY), file = open("file", O_RDONLY);
    CHECK("from a directory", faccessat(a, "b/file", F_OK, 0));
    CHECK("from a file", faccessat(file, "b/file", F_OK, 0));
    CHECK("from a file upwards", faccessat(file, "..", F_OK, 0));
    CHECK_OK("openat2", open_how(a, "b/file", O_RDONLY, 0));
    CHECK("openat2 beneath", open_how(a, "../file", O_RDONLY, RESOLVE_BENEATH));
    CHECK("openat2 beneath by a link", open_how(a, "up", O_RDONLY, RESOLVE_BENEATH));
    CHECK("openat2 beneath and absolute", open_how(a, "/tmp", O_RDONLY, RESOLVE_BENEATH));
    CHECK_OK("openat2 beneath with dots inside", open_how(a, "b/../b/file", O_RDONLY, RESOLVE_BENEATH));
    CHECK("openat2 in root", open_how(a, "/tmp", O_RDONLY, RESOLVE_IN_ROOT));
    CHECK_OK("openat2 in root upwards", open_how(a, "../../b/file", O_RDONLY, RESOLVE_IN_ROOT));
    CHECK("openat2 without links", open_how(AT_FDCWD, "short/file", O_RDONLY, RESOLVE_NO_SYMLINKS));
    CHECK("openat2 without links at the end", open_how(AT_FDCWD, "absolute", O_RDONLY, RESOLVE_NO_SYMLINKS));
    CHECK("openat2 without jumps", open_how(AT_FDCWD, "/proc/self/cwd/file", O_RDONLY, RESOLVE_NO_MAGICLINKS));
    CHECK("openat2 with an unknown way", open_how(AT_FDCWD, "file", O_RDONLY, 0x1000));
    CHECK("openat2 with an unknown flag", open_how(AT_FDCWD, "file", 1ULL << 40, 0));
    struct open_how how = {.flags = O_RDONLY, .mode = 0600};
    CHECK("openat2 with a mode for nothing", syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how));
    CHECK("openat2 with a small structure", syscall(SYS_openat2, AT_FDCWD, "file", &how, 8));
    show_file("/proc/self/cwd", "/proc/self/cwd/file");
    snprintf(name, sizeof name, "/proc/self/fd/%d/b/file", a);
    show_file("/proc/self/fd", name);
    CHECK("/proc/self/root leads to /", access("/proc/self/root/tmp/allways-dir_walk/file", F_OK));
    CHECK("above it", access("/proc/self/root/../../tmp", F_OK));
    mkdir("closed", 0700);
    mkdir("closed/open", 0777);
    put_file("closed/open/file", "x");
    mkdir("through", 0711);
    put_file("through/file", "x");
    in_child(as_user);
    leave_work();
    return 0;
}
