// mmap(2), mprotect(2), munmap(2), mremap(2), brk(2), madvise(2) and their errors.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096l

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static void show_map(const char *name, void *result) {
    printf("%s: %s\n", name, result == MAP_FAILED ? strerrorname_np(errno) : "mapped");
    fflush(stdout);
}

static sigjmp_buf back;
static void catches(int signal) { siglongjmp(back, signal); }

static int touch(volatile char *address, int write) {
    int signal = sigsetjmp(back, 1);
    if (signal == 0) {
        if (write) *address = 1;
        else (void)*address;
    }
    return signal;
}

static char *anonymous(size_t length) {
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
    signal(SIGSEGV, catches);
    signal(SIGBUS, catches);
    char name[] = "/tmp/allways-map-XXXXXX";
    int fd = mkstemp(name);
    int readable = open(name, O_RDONLY), writable = open(name, O_WRONLY);
    for (int i = 0; i < 2 * PAGE; i++) write(fd, &(char){'a' + i / PAGE}, 1);
    int pipes[2];
    pipe(pipes);

    show_map("length 0", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    show_map("neither private nor shared", mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0));
    show_map("bad descriptor", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 99, 0));
    show_map("pipe", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, pipes[0], 0));
    show_map("directory", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, open("/", O_RDONLY), 0));
    show_map("odd offset", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 100));
    show_map("odd fixed address", mmap((void *)0x100000001, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    show_map("write-only file", mmap(NULL, PAGE, PROT_WRITE, MAP_PRIVATE, writable, 0));
    show_map("shared, read-only file", mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, readable, 0));
    show_map("private, read-only file", mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, readable, 0));
    show_map("far too long", mmap(NULL, 1l << 50, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    show_map("wrapping", mmap(NULL, -PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char *area = anonymous(4 * PAGE);
    show_map("no replace, taken", mmap(area, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    munmap(area + PAGE, PAGE);
    show("no replace, free",
         mmap(area + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == area + PAGE);
    munmap(area, 4 * PAGE);
    show("hint is taken up", mmap(area, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == area);
    show("low addresses", (uintptr_t)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0) >> 32);

    // Sharing with files.
    char *shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *private = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *second = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, readable, PAGE);
    printf("content: %c %c %c\n", shared[0], private[PAGE], second[0]);
    private[0] = 'P';
    shared[PAGE] = 'S';
    char byte;
    pread(fd, &byte, 1, 0);
    printf("private write: file %c mapping %c\n", byte, shared[0]);
    pread(fd, &byte, 1, PAGE);
    printf("shared write: file %c mapping %c private %c\n", byte, second[0], private[PAGE]);
    pwrite(fd, "W", 1, 10);
    printf("file write: shared %c private %c\n", shared[10], private[10]);
    show("discard", madvise(private, PAGE, MADV_DONTNEED));
    printf("private again: %c\n", private[0]);
    ftruncate(fd, PAGE);
    show("behind the end", touch(shared + PAGE, 0));
    ftruncate(fd, 2 * PAGE);
    show("longer again", touch(shared + PAGE, 0));
    show("zeros then", shared[PAGE]);
    show("msync", msync(shared, 2 * PAGE, MS_SYNC));
    show("msync both", msync(shared, PAGE, MS_SYNC | MS_ASYNC));
    show("msync odd", msync(shared + 1, PAGE, MS_SYNC));

    // Protection.
    area = anonymous(3 * PAGE);
    show("make read-only", mprotect(area + PAGE, PAGE, PROT_READ));
    printf("write: %d %d %d\n", touch(area, 1), touch(area + PAGE, 1), touch(area + 2 * PAGE, 1));
    show("make nothing", mprotect(area, PAGE, PROT_NONE));
    show("read", touch(area, 0));
    show("length 0", mprotect(area, 0, PROT_READ));
    show("odd address", mprotect(area + 1, PAGE, PROT_READ));
    show("bad protection", mprotect(area, PAGE, 0x10000));
    munmap(area + PAGE, PAGE);
    show("over a hole", mprotect(area, 3 * PAGE, PROT_READ | PROT_WRITE));
    printf("first part is done: %d, last is not changed: %d\n", touch(area, 1), touch(area + 2 * PAGE, 1));
    show("unmap a hole", munmap(area + PAGE, PAGE));
    show("unmap odd", munmap(area + 1, PAGE));
    show("unmap nothing", munmap(area, 0));
    show("gone", touch(area + PAGE, 0));

    // Moving.
    area = anonymous(4 * PAGE);
    area[0] = 'x';
    munmap(area + 2 * PAGE, 2 * PAGE);
    show("grow in place", mremap(area, 2 * PAGE, 3 * PAGE, 0) == area);
    char *wall = mmap(area + 3 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    show_map("no room", mremap(area, 3 * PAGE, 4 * PAGE, 0));
    char *moved = mremap(area, 3 * PAGE, 16 * PAGE, MREMAP_MAYMOVE);
    printf("moved: %d content %c\n", moved != area, moved[0]);
    show("old place is gone", touch(area, 0));
    show("shrink", mremap(moved, 16 * PAGE, PAGE, 0) == moved);
    show("tail is gone", touch(moved + PAGE, 0));
    char *target = anonymous(PAGE);
    show("fixed", mremap(moved, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target);
    printf("content %c\n", target[0]);
    show_map("fixed without move", mremap(target, PAGE, PAGE, MREMAP_FIXED, wall));
    show_map("to nothing", mremap(target, PAGE, 0, MREMAP_MAYMOVE));
    show_map("from nowhere", mremap(area, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
    show_map("odd", mremap(target + 1, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
    show_map("bad flags", mremap(target, PAGE, PAGE, 64));

    // Advice and residence.
    area = anonymous(2 * PAGE);
    area[0] = 'x';
    show("MADV_DONTNEED", madvise(area, PAGE, MADV_DONTNEED));
    show("zero", area[0]);
    show("bad advice", madvise(area, PAGE, 99));
    show("odd advice", madvise(area + 1, PAGE, MADV_NORMAL));
    show("hint", madvise(area, 2 * PAGE, MADV_WILLNEED));
    munmap(area + PAGE, PAGE);
    show("advice over a hole", madvise(area, 2 * PAGE, MADV_DONTNEED));
    unsigned char vector[2] = {0, 0};
    area[0] = 1;
    show("mincore", mincore(area, PAGE, vector));
    show("resident", vector[0] & 1);
    show("mincore over a hole", mincore(area, 2 * PAGE, vector));
    show("mincore odd", mincore(area + 1, PAGE, vector));
    show("mlock over a hole", mlock(area, 2 * PAGE));
    show("munlock over a hole", munlock(area, 2 * PAGE));
    show("mlockall nothing", mlockall(0));

    // The heap.
    char *end = (char *)syscall(SYS_brk, 0);
    show("grow", (char *)syscall(SYS_brk, end + 3 * PAGE) == end + 3 * PAGE);
    end[2 * PAGE] = 'h';
    show("shrink", (char *)syscall(SYS_brk, end) == end);
    show("gone", touch((char *)(((uintptr_t)end + PAGE - 1) & -PAGE) + PAGE, 0));
    show("grow again", (char *)syscall(SYS_brk, end + 3 * PAGE) == end + 3 * PAGE);
    show("zero", end[2 * PAGE]);
    show("too low", (char *)syscall(SYS_brk, 4096) == end + 3 * PAGE);
    show("too high", (char *)syscall(SYS_brk, -1l) == end + 3 * PAGE);

    // Sharing with children.
    int *counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int *own = (int *)anonymous(PAGE);
    fflush(stdout);
    if (fork() == 0) {
        *counter = 1;
        *own = 1;
        _exit(0);
    }
    wait(NULL);
    printf("after fork: shared %d private %d\n", *counter, *own);
    struct rlimit limit = {1l << 40, 1l << 40};
    setrlimit(RLIMIT_AS, &limit);
    show_map("beyond RLIMIT_AS", mmap(NULL, 2l << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    show("membarrier unregistered", syscall(SYS_membarrier, 8, 0, 0));
    show("membarrier register", syscall(SYS_membarrier, 16, 0, 0));
    show("membarrier", syscall(SYS_membarrier, 8, 0, 0));
    show("membarrier bad flags", syscall(SYS_membarrier, 8, 7, 0));
    unlink(name);
    return 0;
}
