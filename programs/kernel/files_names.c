// Making, removing and changing names.
#include "filecheck.h"

static long links(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? (long)status.st_nlink : -1;
}

static void sticky(void) {
    if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        perror("nobody");
    CHECK("nobody removes another's file from a sticky directory", unlink("sticky/rooted"));
    CHECK("nobody renames it", rename("sticky/rooted", "sticky/mine"));
    CHECK_OK("nobody makes a file there", open("sticky/own", O_WRONLY | O_CREAT, 0644));
    CHECK("nobody removes its own", unlink("sticky/own"));
}

int main(void) {
    enter_work("files_names");
    CHECK("mkdir", mkdir("dir", 0777));
    CHECK("mkdir again", mkdir("dir", 0777));
    CHECK("mkdir with a slash", mkdir("slash/", 0755));
    CHECK("mkdir below nothing", mkdir("none/x", 0755));
    CHECK("mkdir of .", mkdir(".", 0755));
    CHECK("mkdir of an empty path", mkdir("", 0755));
    TELL("links of a directory", links("dir"));
    mkdir("dir/sub", 0755);
    TELL("links with a directory inside", links("dir"));
    CHECK("rmdir of a full directory", rmdir("dir"));
    CHECK("rmdir of .", rmdir("dir/."));
    CHECK("rmdir of ..", rmdir("dir/sub/.."));
    CHECK("rmdir of /", rmdir("/"));
    CHECK("rmdir with a slash", rmdir("slash/"));
    put_file("file", "content");
    CHECK("rmdir of a file", rmdir("file"));
    CHECK("unlink of a directory", unlink("dir"));
    CHECK("unlink with a slash", unlink("file/"));
    CHECK("unlink of nothing", unlink("nothing"));
    CHECK("unlinkat of a directory", unlinkat(AT_FDCWD, "dir/sub", AT_REMOVEDIR));
    CHECK("unlinkat with bad flags", unlinkat(AT_FDCWD, "file", 0x4000));
    TELL("links without it", links("dir"));
    CHECK("link", link("file", "hard"));
    TELL("links of a file", links("file"));
    CHECK("link onto a file", link("file", "hard"));
    CHECK("link of a directory", link("dir", "dirlink"));
    CHECK("link of nothing", link("nothing", "x"));
    CHECK("symlink", symlink("file", "soft"));
    CHECK("symlink onto a name", symlink("file", "soft"));
    CHECK("symlink of nothing", symlink("", "empty"));
    CHECK("symlink with a slash", symlink("file", "newlink/"));
    CHECK("link of a symlink", linkat(AT_FDCWD, "soft", AT_FDCWD, "softhard", 0));
    TELL("links of the symlink", links("soft"));
    CHECK("link through a symlink", linkat(AT_FDCWD, "soft", AT_FDCWD, "through", AT_SYMLINK_FOLLOW));
    TELL("links of the file", links("file"));
    char text[16];
    CHECK("readlink", readlink("soft", text, sizeof text));
    CHECK("readlink into little room", readlink("soft", text, 2));
    CHECK("readlink of a file", readlink("file", text, sizeof text));
    CHECK("readlink into no room", syscall(SYS_readlink, "soft", text, 0));
    CHECK("unlink of a hard link", unlink("hard"));
    CHECK("rename", rename("file", "moved"));
    CHECK("the old name", access("file", F_OK));
    CHECK("rename of nothing", rename("file", "other"));
    CHECK("rename onto another name of the same", rename("moved", "through"));
    CHECK("both names are there", access("moved", F_OK) + access("through", F_OK));
    put_file("target", "old");
    CHECK("rename onto a file", rename("moved", "target"));
    show_file("what it is now", "target");
    CHECK("rename a file onto a directory", rename("target", "dir"));
    CHECK("rename a directory onto a file", rename("dir", "target"));
    mkdir("full", 0755);
    put_file("full/x", "x");
    CHECK("rename a directory onto a full one", rename("dir", "full"));
    mkdir("empty", 0755);
    CHECK("rename a directory onto an empty one", rename("dir", "empty"));
    CHECK("rename a directory into itself", rename("full", "full/inside"));
    CHECK("rename onto an ancestor", rename("full/x", "full"));
    mkdir("full/deep", 0755);
    mkdir("full/deep/er", 0755);
    CHECK("rename a directory onto an ancestor", rename("full/deep/er", "full"));
    CHECK("rename of .", rename("full/.", "other"));
    CHECK("rename of ..", rename("full/..", "other"));
    CHECK("rename a file with a slash", rename("target/", "other"));
    CHECK("rename a file to a slash", rename("target", "other/"));
    CHECK("rename a directory to a slash", rename("full", "filled/"));
    CHECK("a file moved along", access("filled/x", F_OK));
    CHECK("move a directory elsewhere", rename("filled/deep", "empty/deep"));
    TELL("links of where it was", links("filled"));
    TELL("links of where it is", links("empty"));
    CHECK("its content moved along", access("empty/deep/er", F_OK));
    CHECK("its .. is the new parent", access("empty/deep/../deep/er", F_OK));
    put_file("a", "a");
    put_file("b", "b");
    CHECK("RENAME_NOREPLACE onto a file", renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE));
    CHECK("RENAME_NOREPLACE", renameat2(AT_FDCWD, "a", AT_FDCWD, "c", RENAME_NOREPLACE));
    CHECK("RENAME_EXCHANGE", renameat2(AT_FDCWD, "b", AT_FDCWD, "c", RENAME_EXCHANGE));
    show_file("b", "b");
    show_file("c", "c");
    CHECK("RENAME_EXCHANGE with nothing", renameat2(AT_FDCWD, "b", AT_FDCWD, "d", RENAME_EXCHANGE));
    CHECK("both flags", renameat2(AT_FDCWD, "b", AT_FDCWD, "c", RENAME_EXCHANGE | RENAME_NOREPLACE));
    CHECK("exchange a file and a directory", renameat2(AT_FDCWD, "b", AT_FDCWD, "empty", RENAME_EXCHANGE));
    CHECK("the directory has the file's name", access("b/deep", F_OK));
    CHECK("an unknown flag", renameat2(AT_FDCWD, "b", AT_FDCWD, "c", 0x80));
    CHECK("mknod of a FIFO", mknod("fifo", S_IFIFO | 0644, 0));
    CHECK("mknod of a file", mknod("plain", S_IFREG | 0600, 0));
    CHECK("mknod of a directory", mknod("wrong", S_IFDIR | 0755, 0));
    CHECK("mknod of a device", mknod("null", S_IFCHR | 0666, makedev(1, 3)));
    int null = open("null", O_RDWR);
    CHECK("write to the device", write(null, "gone", 4));
    CHECK("read of the device", read(null, text, 4));
    CHECK("open of an unknown device", open("null", O_RDONLY | O_DIRECTORY));
    CHECK("mknod onto a name", mknod("fifo", S_IFIFO | 0644, 0));
    int directory = open("filled", O_RDONLY | O_DIRECTORY);
    CHECK("mkdirat", mkdirat(directory, "at", 0755));
    CHECK("symlinkat", symlinkat("x", directory, "lx"));
    CHECK("renameat", renameat(directory, "at", AT_FDCWD, "out"));
    CHECK("unlinkat", unlinkat(directory, "lx", 0));
    CHECK("openat from a file", openat(null, "x", O_RDONLY));
    CHECK("openat from nothing", openat(77, "x", O_RDONLY));
    CHECK_OK("openat with an absolute path", openat(77, "/", O_RDONLY));
    mkdir("sticky", 0777);
    chmod("sticky", 01777);
    put_file("sticky/rooted", "x");
    in_child(sticky);
    leave_work();
    return 0;
}
