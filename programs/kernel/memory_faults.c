// Calls that are given memory or files which they cannot use.
#include "filecheck.h"
#include <linux/futex.h>
#include <pthread.h>
#include <time.h>

static char *page(int protection) {
    return mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long futex(void *word, int operation, int value, long other, void *second, int third) {
    return syscall(SYS_futex, word, operation, value, other, second, third);
}

static void futexes(void) {
    int word = 0;
    int file = open("shared", O_CREAT | O_RDWR, 0644);
    ftruncate(file, 4096);
    char *of_file = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    char *closed = page(PROT_NONE), *read_only = page(PROT_READ), *gone = page(PROT_READ);
    munmap(gone, 4096);
    CHECK("wake, a file that can be read", futex(of_file, FUTEX_WAKE, 1, 0, NULL, 0));
    CHECK("wake, unmapped", futex(gone, FUTEX_WAKE, 1, 0, NULL, 0));
    CHECK("wake, unmapped, private", futex(gone, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, NULL, 0));
    CHECK("wake, not readable", futex(closed, FUTEX_WAKE, 1, 0, NULL, 0));
    CHECK("wake, not readable, private", futex(closed, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, NULL, 0));
    CHECK("wake, not writable", futex(read_only, FUTEX_WAKE, 1, 0, NULL, 0));
    CHECK("wake, not aligned", futex((char *)&word + 1, FUTEX_WAKE, 1, 0, NULL, 0));
    CHECK("wake, of the kernel", futex((void *)0xffff800000000000, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, NULL, 0));
    CHECK("requeue, unmapped", futex(&word, FUTEX_REQUEUE, 1, 1, gone, 0));
    CHECK("requeue, unmapped, private", futex(&word, FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG, 1, 1, gone, 0));
    CHECK("compare and requeue, unmapped", futex(&word, FUTEX_CMP_REQUEUE, 1, 1, gone, 0));
    CHECK("compare and requeue from unmapped", futex(gone, FUTEX_CMP_REQUEUE, 1, 1, &word, 0));
    CHECK("from unmapped, private", futex(gone, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 1, 1, &word, 0));
    CHECK("wait, unmapped", futex(gone, FUTEX_WAIT, 0, 0, NULL, 0));
    CHECK("wake and operate, unmapped", futex(&word, FUTEX_WAKE_OP, 1, 1, gone, 0));
    CHECK("wake and operate, not writable", futex(&word, FUTEX_WAKE_OP, 1, 1, read_only, 0));
}

static void moves(void) {
    char *three = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(three, "first"), strcpy(three + 4096, "second");
    CHECK_OK("onto itself", mremap(three, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, three));
    CHECK_OK("onto a part", mremap(three, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, three + 4096));
    CHECK_OK("from below", mremap(three + 4096, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, three));
    CHECK_OK("smaller, within", mremap(three, 8192, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, three + 4096));
    CHECK_OK("not aligned", mremap(three, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, three + 4100));
    printf("%s %s\n", three, three + 4096);
    CHECK_OK("beside", mremap(three, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, three + 8192));
    printf("%s\n", three + 8192);
}

static void note(int number) {}

static void sleeps(void) {
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGALRM, &action, NULL);
    struct timespec time = {1, 0};
    struct itimerval alarm = {.it_value = {0, 50000}};
    setitimer(ITIMER_REAL, &alarm, NULL);
    CHECK("a rest that cannot be written", syscall(SYS_nanosleep, &time, 16));
    setitimer(ITIMER_REAL, &alarm, NULL);
    CHECK("the same by a clock", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, 16));
    setitimer(ITIMER_REAL, &alarm, NULL);
    CHECK("no rest wanted", syscall(SYS_nanosleep, &time, NULL));
}

static void offsets(void) {
    put_file("from", "0123456789");
    int from = open("from", O_RDONLY), to = open("to", O_CREAT | O_RDWR, 0644);
    off_t *offset = (void *)page(PROT_READ | PROT_WRITE);
    *offset = 3;
    mprotect(offset, 4096, PROT_READ);
    CHECK("sendfile", sendfile(to, from, offset, 4));
    CHECK("position", lseek(to, 0, SEEK_CUR));
    CHECK("sendfile, no such memory", sendfile(to, from, (void *)16, 4));
    CHECK("position", lseek(to, 0, SEEK_CUR));
    int ends[2];
    pipe(ends);
    CHECK("splice", splice(from, offset, ends[1], NULL, 4, 0));
    int waiting;
    ioctl(ends[0], FIONREAD, &waiting);
    TELL("in the pipe", waiting);
    int folder = open(".", O_RDONLY);
    CHECK("copy_file_range to a folder", copy_file_range(from, NULL, folder, NULL, 4, 0));
    CHECK("copy_file_range from a pipe", copy_file_range(ends[0], NULL, to, NULL, 4, 0));
    CHECK("copy_file_range to what is read only", copy_file_range(to, NULL, from, NULL, 4, 0));
    CHECK("copy_file_range", copy_file_range(from, offset, to, NULL, 4, 0));
    CHECK("position", lseek(to, 0, SEEK_CUR));
}

static int open_again(int fd, int flags) {
    char path[64];
    sprintf(path, "/proc/self/fd/%d", fd);
    return open(path, flags);
}

static void seals(void) {
    int file = memfd_create("sealed", MFD_ALLOW_SEALING);
    write(file, "content", 7);
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK);
    CHECK_OK("emptied at opening", open_again(file, O_RDWR | O_TRUNC));
    CHECK_OK("opened", open_again(file, O_RDWR));
    TELL("size", lseek(file, 0, SEEK_END));
    int whole = memfd_create("written", MFD_ALLOW_SEALING);
    write(whole, "content", 7);
    fcntl(whole, F_ADD_SEALS, F_SEAL_WRITE);
    CHECK_OK("emptied though only writing is sealed", open_again(whole, O_RDWR | O_TRUNC));
    TELL("size", lseek(whole, 0, SEEK_END));
}

static void pieces(void) {
    static char bytes[200000] __attribute__((aligned(4096)));
    int ends[2];
    pipe(ends);
    struct iovec piece = {bytes, sizeof bytes};
    CHECK("vmsplice of more than there is room", vmsplice(ends[1], &piece, 1, 0));
    CHECK("vmsplice without room", vmsplice(ends[1], &piece, 1, SPLICE_F_NONBLOCK));
    CHECK("vmsplice to memory", vmsplice(ends[0], &piece, 1, 0));
    CHECK("vmsplice of nothing", vmsplice(ends[0], &piece, 1, SPLICE_F_NONBLOCK));
}

int main(void) {
    enter_work("memory-faults");
    futexes();
    moves();
    sleeps();
    offsets();
    seals();
    pieces();
    leave_work();
}
