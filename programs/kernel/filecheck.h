// Shared by the programs on files: every check prints one line, `name: result errno`.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

// The number that a call returns, or -1 and what errno says.
#define CHECK(name, call)                                     \
    do {                                                      \
        errno = 0;                                            \
        long result_ = (long)(call);                          \
        if (result_ == -1)                                    \
            printf("%s: -1 %s\n", name, strerrorname(errno)); \
        else                                                  \
            printf("%s: %ld\n", name, result_);               \
    } while (0)

// Whether a call succeeds, when its number is not to be told.
#define CHECK_OK(name, call)                                                             \
    do {                                                                                 \
        errno = 0;                                                                       \
        printf("%s: %s\n", name, (long)(call) == -1 ? strerrorname(errno) : "succeeds"); \
    } while (0)

// A fact.
#define TELL(name, value) printf("%s: %ld\n", name, (long)(value))

static const char *strerrorname(int number) {
    const char *name = strerrorname_np(number);
    return name ? name : "?";
}

// A fresh directory to work in; everything below is removed first.
static void remove_below(int directory) {
    DIR *stream = fdopendir(directory);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (unlinkat(dirfd(stream), entry->d_name, 0) == 0)
            continue;
        int below = openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (below >= 0)
            remove_below(below);
        unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
    }
    if (stream)
        closedir(stream);
}

static char work_directory[256];

static void leave_work(void) {
    if (chdir("/") != 0)
        return;
    int old = open(work_directory, O_RDONLY | O_DIRECTORY);
    if (old >= 0)
        remove_below(old);
    rmdir(work_directory);
}

static void enter_work(const char *name) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    umask(022);
    snprintf(work_directory, sizeof work_directory, "/tmp/allways-%s", name);
    leave_work();
    if (mkdir(work_directory, 0755) != 0 || chdir(work_directory) != 0) {
        perror(work_directory);
        exit(1);
    }
}

// Makes a file with a text.
static void put_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (write(fd, text, strlen(text)) < 0)
        perror(path);
    close(fd);
}

// Prints the text of a file.
static void show_file(const char *name, const char *path) {
    char text[256];
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    text[got < 0 ? 0 : got] = 0;
    printf("%s: \"%s\"\n", name, text);
    if (fd >= 0)
        close(fd);
}

// Runs a function in a child and waits for it.
static int in_child(void (*function)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        function();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}
