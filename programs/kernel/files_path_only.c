// What O_PATH, a running program and a mapping keep of a file without names.
#include "filecheck.h"

static void show_stat(const char *name, int fd) {
    struct stat stat;
    CHECK(name, fstat(fd, &stat));
    TELL("names", stat.st_nlink);
    TELL("size", S_ISREG(stat.st_mode) ? stat.st_size : -1);
}

static int open_again(int fd, int flags) {
    char path[64];
    sprintf(path, "/proc/self/fd/%d", fd);
    return open(path, flags);
}

static void show_link(const char *name, int fd) {
    char path[64], target[256] = "";
    sprintf(path, "/proc/self/fd/%d", fd);
    readlink(path, target, sizeof target - 1);
    printf("%s: %s\n", name, target);
}

// The program itself, under a name that goes while it runs.
static int run_copy(char **arguments) {
    struct stat before, after;
    int file = open("/proc/self/exe", O_RDONLY);
    fstat(file, &before);
    close(file);
    unlink(arguments[0]);
    file = open("/proc/self/exe", O_RDONLY);
    CHECK_OK("the running program", file);
    fstat(file, &after);
    TELL("is the same", before.st_ino == after.st_ino && after.st_nlink == 0 && before.st_size == after.st_size);
    char start[4] = "";
    read(file, start, 4);
    TELL("is a program", !memcmp(start, "\177ELF", 4));
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1)
        return run_copy(arguments);
    enter_work("files-path-only");
    put_file("file", "content");
    int path = open("file", O_PATH);
    unlink("file");
    show_stat("a path without file", path);
    show_link("link", path);
    int again = open_again(path, O_RDWR);
    CHECK_OK("opened again", again);
    char text[16] = "";
    CHECK("read", read(again, text, sizeof text));
    printf("text: %s\n", text);
    CHECK("write", write(again, "more", 4));
    close(again);
    show_stat("after writing", path);
    CHECK("no first name again", linkat(path, "", AT_FDCWD, "file", AT_EMPTY_PATH));
    put_file("file", "another");
    show_stat("beside another of that name", path);
    close(path);

    mkdir("folder", 0755);
    int folder = open("folder", O_PATH | O_DIRECTORY);
    rmdir("folder");
    struct stat stat;
    CHECK("a folder", fstat(folder, &stat));
    TELL("its names", stat.st_nlink);
    CHECK("a file in it", openat(folder, "file", O_CREAT | O_WRONLY, 0644));
    CHECK("to enter it", fchdir(folder));
    char where[100];
    CHECK_OK("where am I", syscall(SYS_getcwd, where, sizeof where) < 0 ? -1 : 0);
    chdir(work_directory);
    close(folder);

    symlink("target", "link");
    int link = open("link", O_PATH | O_NOFOLLOW);
    unlink("link");
    memset(text, 0, sizeof text);
    CHECK("a link", readlinkat(link, "", text, sizeof text));
    printf("leads to: %s\n", text);
    close(link);

    put_file("mapped", "mapped content");
    int mapped = open("mapped", O_RDWR);
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0);
    close(mapped), unlink("mapped");
    put_file("mapped", "other");
    printf("mapped: %s\n", memory);

    int from = open("/proc/self/exe", O_RDONLY), to = open("copy", O_CREAT | O_WRONLY, 0755);
    while (sendfile(to, from, NULL, 1 << 20) > 0)
        ;
    close(from), close(to);
    fflush(stdout);
    if (fork() == 0)
        execl("./copy", "./copy", "run", NULL);
    int status;
    wait(&status);
    TELL("status", status);
    leave_work();
}
