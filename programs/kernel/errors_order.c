// Which error comes first, and errors of calls that are used wrongly.
#include "netcheck.h"
#include <linux/capability.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>

static long mapped(void *address) { return address == MAP_FAILED ? -1 : 0; }

static void mappings(int file) {
    show("no length, no file", mapped(mmap(0, 0, PROT_READ, MAP_SHARED, 77, 0)));
    show("no file", mapped(mmap(0, 4096, PROT_READ, MAP_SHARED, 77, 0)));
    show("no sharing, no file", mapped(mmap(0, 4096, PROT_READ, 0, 77, 0)));
    show("no sharing", mapped(mmap(0, 4096, PROT_READ, 0, file, 0)));
    show("no length", mapped(mmap(0, 0, PROT_READ, MAP_SHARED, file, 0)));
    show("an odd offset, no file", mapped(mmap(0, 4096, PROT_READ, MAP_SHARED, 77, 1)));
    show("unknown flags", mapped(mmap(0, 4096, PROT_READ, MAP_SHARED_VALIDATE | 0x1000000, file, 0)));
    show("of no file", mapped(mmap(0, 4096, PROT_READ, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0)));
    int zero = open("/dev/zero", O_RDONLY);
    char *page = mmap(0, 4096, PROT_READ, MAP_SHARED, zero, 0);
    show("zeros, read only", mapped(page)), show("written", mprotect(page, 4096, PROT_READ | PROT_WRITE));
    show("zeros, written", mapped(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0)));
    page = mmap(0, 4096, PROT_READ, MAP_SHARED, open("/dev/zero", O_RDWR), 0);
    show("zeros that may be written", mprotect(page, 4096, PROT_READ | PROT_WRITE));
}

static void files(int file, int folder, const int *pipes) {
    int other = open("other", O_RDWR | O_CREAT, 0600), closed = open("file", O_RDONLY);
    struct iovec piece = {(char[8]){}, 5};
    loff_t in = 0, out = 0;
    show("copy from a folder", copy_file_range(folder, &in, other, &out, 5, 0));
    show("copy into a folder", copy_file_range(file, &in, folder, &out, 5, 0));
    show("copy from a pipe", copy_file_range(pipes[0], NULL, other, &out, 5, 0));
    show("copy into what is not writable", copy_file_range(file, &in, closed, &out, 5, 0));
    show("flags", copy_file_range(file, &in, other, &out, 5, 9));
    show("pwritev2 to a pipe", syscall(SYS_pwritev2, pipes[1], &piece, 1, 0, 0, 0));
    show("preadv2 from a pipe", syscall(SYS_preadv2, pipes[0], &piece, 1, 0, 0, 0));
    show("utimes, no name", syscall(SYS_utimes, 1, NULL)), show("utimes, no times", syscall(SYS_utimes, "file", 1));
    show("sync of a pipe", sync_file_range(pipes[0], 0, 0, 0));
    show("sync of a device", sync_file_range(open("/dev/null", O_RDWR), 0, 0, 0));
    show("no such lock", flock(file, 99)), show("no lock at all", flock(file, 0)), show("no file", flock(77, 99));
    show("no such level", getsockopt(socket(AF_INET, SOCK_STREAM, 0), 12345, 1, &in, &(socklen_t){4}));
    loff_t *constant = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    show("an offset that cannot be written", sendfile(other, file, constant, 5));
    show("no offset", sendfile(other, file, (void *)1, 5));
}

static void processes(void) {
    struct sched_param priority = {99};
    show("no priority", syscall(SYS_sched_setparam, 0, NULL));
    show("nobody", syscall(SYS_sched_setparam, -1, &priority));
    show("too high", syscall(SYS_sched_setparam, 0, &priority));
    show("slack", prctl(PR_SET_TIMERSLACK, 1234567)), show("it is", prctl(PR_GET_TIMERSLACK));
    if (fork() == 0) {
        show("a child's", prctl(PR_GET_TIMERSLACK)), show("another", prctl(PR_SET_TIMERSLACK, 99));
        show("it is", prctl(PR_GET_TIMERSLACK)), show("back", prctl(PR_SET_TIMERSLACK, 0));
        show("it is", prctl(PR_GET_TIMERSLACK));
        _exit(0);
    }
    wait(NULL);
    struct __user_cap_header_struct header = {0x12345, 0};
    struct __user_cap_data_struct sets[2];
    show("which version", capget(&header, NULL)), printf("%#x\n", header.version);
    header.version = 0x12345, show("no such version", capget(&header, sets));
    show("no sets", capget(&header, NULL)), show("no sets to take", capset(&header, NULL));
    header.pid = -1, show("nobody", capget(&header, sets)), header.pid = 999999, show("nobody", capget(&header, sets));
}

// Whether mountinfo has the device that stat(2) tells of a place.
static void mounted(const char *place) {
    char line[1000], wanted[100];
    struct stat status;
    stat(place, &status);
    snprintf(wanted, sizeof wanted, " %d:%d / %s ", major(status.st_dev), minor(status.st_dev), place);
    FILE *file = fopen("/proc/self/mountinfo", "r");
    int found = 0;
    while (fgets(line, sizeof line, file)) found |= strstr(line, wanted) != NULL;
    printf("%s is mounted: %d\n", place, found);
    fclose(file);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    int pipes[2], file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), folder = open(".", O_RDONLY);
    write(file, "hello world", 11), pipe(pipes);
    mappings(file);
    files(file, folder, pipes);
    processes();
    mounted("/proc"), mounted("/sys"), mounted("/dev");
}
