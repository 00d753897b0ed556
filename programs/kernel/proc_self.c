// /proc/self: what a process finds out about itself.
#include "filecheck.h"
#include <sys/auxv.h>
#include <sys/prctl.h>

static char text[65536];

static long load(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    long total = 0;
    for (ssize_t got; (got = read(fd, text + total, sizeof text - 1 - total)) > 0;)
        total += got;
    text[total] = 0;
    close(fd);
    return total;
}

// Whether a file has a line that starts so.
static int has(const char *path, const char *start) {
    if (load(path) < 0)
        return -1;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strncmp(line, start, strlen(start)))
            return 1;
    return 0;
}

// The value of a field of /proc/self/status.
static void show_field(const char *field) {
    load("/proc/self/status");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
            printf("%s\n", line);
}

static int count(const char *path) {
    DIR *stream = opendir(path);
    int number = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        number += entry->d_name[0] != '.';
    if (stream)
        closedir(stream);
    return number;
}

static void as_user(void) {
    if (setgroups(0, NULL) != 0 || setgid(1000) != 0 || setuid(1000) != 0)
        perror("user");
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", getppid());
    CHECK("another's environment", open(path, O_RDONLY));
    snprintf(path, sizeof path, "/proc/%d/stat", getppid());
    CHECK_OK("another's stat", open(path, O_RDONLY));
    snprintf(path, sizeof path, "/proc/%d/fd", getppid());
    CHECK("another's descriptors", open(path, O_RDONLY));
}

int main(int argc, char **argv) {
    enter_work("proc_self");
    char path[256] = {0}, other[256] = {0};
    readlink("/proc/self", path, sizeof path);
    TELL("/proc/self", atoi(path) == getpid());
    memset(path, 0, sizeof path);
    readlink("/proc/self/exe", path, sizeof path);
    printf("exe: %s\n", strrchr(path, '/') + 1);
    CHECK_OK("exe opens", open("/proc/self/exe", O_RDONLY));
    memset(path, 0, sizeof path);
    readlink("/proc/self/cwd", path, sizeof path);
    printf("cwd: %s\n", path);
    memset(path, 0, sizeof path);
    readlink("/proc/self/root", path, sizeof path);
    printf("root: %s\n", path);
    TELL("cmdline", load("/proc/self/cmdline") == (long)strlen(argv[0]) + 1 && !strcmp(text, argv[0]));
    load("/proc/self/comm");
    printf("comm: %s", text);
    prctl(PR_SET_NAME, "another-long-name");
    load("/proc/self/comm");
    printf("comm after PR_SET_NAME: %s", text);
    int fd = open("/proc/self/comm", O_WRONLY);
    CHECK("write comm", write(fd, "written", 7));
    close(fd);
    char name[16];
    prctl(PR_GET_NAME, name);
    printf("PR_GET_NAME: %s\n", name);
    show_field("Name");
    show_field("Umask");
    show_field("Uid");
    show_field("Gid");
    show_field("Threads");
    show_field("State");
    // What the parent ignores is inherited; glibc keeps two of the signals to itself.
    struct { void *handler; unsigned long flags; void *restorer, *mask; } by_default = {0};
    for (int number = 1; number <= 64; number++) syscall(SYS_rt_sigaction, number, &by_default, NULL, 8);
    signal(SIGUSR1, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    show_field("SigBlk");
    show_field("SigIgn");
    show_field("SigCgt");
    int pid = 0, parent = 0, group = 0, session = 0;
    char state, comm[32];
    load("/proc/self/stat");
    sscanf(text, "%d (%31[^)]) %c %d %d %d", &pid, comm, &state, &parent, &group, &session);
    TELL("stat has our number", pid == getpid() && parent == getppid() && group == getpgrp());
    printf("stat: %s %c\n", comm, state);
    int fields = 1;
    load("/proc/self/stat");
    for (char *at = strrchr(text, ')'); *at; at++)
        fields += *at == ' ';
    TELL("fields of stat", fields + 1);
    TELL("maps has a stack", has("/proc/self/maps", "7ff") != -1 && load("/proc/self/maps") > 0 && strstr(text, "[stack]"));
    malloc(1);
    load("/proc/self/maps");
    TELL("maps has a heap", strstr(text, "[heap]") != NULL);
    TELL("maps has the program", strstr(text, "proc_self\n") != NULL);
    unsigned long start, end;
    char rights[5];
    TELL("the first line parses", sscanf(text, "%lx-%lx %4s", &start, &end, rights) == 3 && start < end && rights[3] == 'p');
    TELL("auxv", load("/proc/self/auxv") % 16 == 0 && load("/proc/self/auxv") > 100);
    unsigned long *pairs = (unsigned long *)text;
    int page = 0;
    for (int i = 0; pairs[i]; i += 2)
        page |= pairs[i] == AT_PAGESZ && pairs[i + 1] == 4096;
    TELL("auxv has the page size", page);
    TELL("environ", load("/proc/self/environ") >= 0);
    TELL("limits", has("/proc/self/limits", "Max open files"));
    TELL("mounts", has("/proc/self/mounts", "proc /proc proc"));
    TELL("/proc/mounts", has("/proc/mounts", "proc /proc proc"));
    TELL("mountinfo", load("/proc/self/mountinfo") > 0);
    TELL("cgroup", load("/proc/self/cgroup") > 0);
    long pages, resident;
    load("/proc/self/statm");
    TELL("statm", sscanf(text, "%ld %ld", &pages, &resident) == 2 && pages > 0);
    load("/proc/self/oom_score_adj");
    printf("oom_score_adj: %s", text);
    TELL("threads", count("/proc/self/task"));
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", getpid());
    load(path);
    printf("comm of the thread: %s", text);
    CHECK("a thread that is not there", access("/proc/self/task/99999999", F_OK));
    CHECK("a process that is not there", access("/proc/99999999", F_OK));
    // Descriptors.
    int before = count("/proc/self/fd");
    put_file("file", "content");
    fd = open("file", O_RDWR);
    TELL("one descriptor more", count("/proc/self/fd") - before);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    readlink(path, other, sizeof other);
    printf("its link: %s\n", other);
    show_file("opened through it", path);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    show_file("and through /dev/fd", path);
    rename("file", "renamed");
    memset(other, 0, sizeof other);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    readlink(path, other, sizeof other);
    printf("after rename: %s\n", other);
    mkdir("dir", 0755);
    rename("renamed", "dir/file");
    rename("dir", "moved");
    memset(other, 0, sizeof other);
    readlink(path, other, sizeof other);
    printf("after moving its directory: %s\n", other);
    link("moved/file", "second");
    unlink("moved/file");
    memset(other, 0, sizeof other);
    readlink(path, other, sizeof other);
    printf("after unlink of that name: %s\n", other);
    unlink("second");
    memset(other, 0, sizeof other);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    readlink(path, other, sizeof other);
    printf("after unlink: %s\n", other);
    show_file("still opened through it", path);
    struct stat status;
    lstat(path, &status);
    printf("the link's mode: %o\n", status.st_mode);
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    lseek(fd, 3, SEEK_SET);
    load(path);
    printf("fdinfo: %s\n", strtok(text, "\n"));
    printf("fdinfo: %s\n", strtok(NULL, "\n"));
    int ends[2];
    pipe(ends);
    memset(other, 0, sizeof other);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    readlink(path, other, sizeof other);
    printf("a pipe: %.6s\n", other);
    CHECK("a descriptor that is not open", access("/proc/self/fd/999", F_OK));
    CHECK("create in /proc", open("/proc/new", O_WRONLY | O_CREAT, 0644));
    CHECK("mkdir in /proc", mkdir("/proc/new", 0755));
    CHECK("unlink in /proc", unlink("/proc/version"));
    CHECK("write to a read-only file", open("/proc/self/stat", O_WRONLY) >= 0 ? 0 : 0);
    fd = open("/proc/self/stat", O_RDONLY);
    CHECK("seek to the start", lseek(fd, 0, SEEK_SET));
    CHECK("read of one byte", read(fd, text, 1));
    CHECK("pread further", pread(fd, text, 1, 1));
    close(fd);
    // Nothing leads out.
    CHECK("out by root", access("/proc/self/root/proc/self/root/../../tmp", F_OK));
    stat("/", &status);
    struct stat root;
    stat("/proc/self/root/..", &root);
    TELL("the root is the root", status.st_ino == root.st_ino && status.st_dev == root.st_dev);
    in_child(as_user);
    leave_work();
    return 0;
}
