// process_vm_readv(2), process_vm_writev(2), and limits that end in signals.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static volatile int count;
static void counts(int signal) {
    (void)signal;
    count++;
}

int main(void) {
    char *area = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(area + 2 * 4096, 4096);
    strcpy(area, "of the parent");
    int ready[2], done[2];
    pipe(ready);
    pipe(done);
    pid_t pid = fork();
    char byte;
    if (pid == 0) {
        strcpy(area, "of the child");
        write(ready[1], "x", 1);
        read(done[0], &byte, 1);
        _exit(strcmp(area, "from outside") == 0 ? 1 : 2);
    }
    read(ready[0], &byte, 1);
    char one[8] = "", two[32] = "";
    struct iovec local[2] = {{one, 7}, {two, 32}}, remote[1] = {{area, 13}};
    show("read", process_vm_readv(pid, local, 2, remote, 1, 0));
    printf("%s|%s\n", one, two);
    remote[0].iov_len = 3 * 4096;
    char *large = malloc(4 * 4096);
    struct iovec room = {large, 4 * 4096};
    show("up to a hole", process_vm_readv(pid, &room, 1, remote, 1, 0));
    remote[0].iov_base = area + 2 * 4096;
    show("in a hole", process_vm_readv(pid, &room, 1, remote, 1, 0));
    show("bad flags", process_vm_readv(pid, &room, 1, remote, 1, 1));
    show("nobody", process_vm_readv(999999, &room, 1, remote, 1, 0));
    struct iovec text = {"from outside", 13};
    remote[0] = (struct iovec){area, 100};
    show("write", process_vm_writev(pid, &text, 1, remote, 1, 0));
    write(done[1], "x", 1);
    int status;
    waitpid(pid, &status, 0);
    show("seen by the child", WEXITSTATUS(status));
    printf("not here: %s\n", area);

    // RLIMIT_CPU: a signal at the soft limit, death at the hard one.
    pid = fork();
    if (pid == 0) {
        signal(SIGXCPU, counts);
        struct rlimit limit = {1, 2};
        setrlimit(RLIMIT_CPU, &limit);
        while (count == 0) {}
        write(ready[1], "x", 1);
        for (;;) {}
    }
    read(ready[0], &byte, 1);
    waitpid(pid, &status, 0);
    printf("told, then killed: %#x\n", status);
    return 0;
}
