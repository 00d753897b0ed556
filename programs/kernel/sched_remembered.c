// What is set about a process and has no effect inside is told again: ioprio_set(2), oom_score_adj. Needs root on the host.
#include "netcheck.h"
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define PRIORITY(class, data) ((class) << 13 | (data))
enum { ONE = 1, GROUP = 2, USER = 3 };

static long set(int which, int who, int priority) { return syscall(SYS_ioprio_set, which, who, priority); }
static long get(int which, int who) { return syscall(SYS_ioprio_get, which, who); }

static void *thread(void *argument) {
    show("a thread has its creator's", get(ONE, 0));
    show("and may have its own", set(ONE, 0, PRIORITY(2, 1))), show("which is this", get(ONE, 0));
    return argument;
}

static void ordinary(void) {
    show("a child has its parent's", get(ONE, 0));
    syscall(SYS_setuid, 1000);
    show("real time", set(ONE, 0, PRIORITY(1, 4))), show("best effort", set(ONE, 0, PRIORITY(2, 1)));
    show("of another user", set(ONE, getppid(), PRIORITY(2, 1))), show("asked", get(ONE, getppid()));
}

static void priorities(void) {
    setpgid(0, 0);
    show("at first", get(ONE, 0)), show("of the group", get(GROUP, 0));
    setpriority(PRIO_PROCESS, 0, 10), show("of the group, by nice", get(GROUP, 0));
    show("nobody", get(ONE, 999999)), show("no kind", get(4, 0)), show("no kind", get(0, 0));
    show("best effort", set(ONE, 0, PRIORITY(2, 5))), show("it is", get(ONE, 0)), show("of the group", get(GROUP, 0));
    show("idle", set(ONE, 0, PRIORITY(3, 3))), show("it is", get(ONE, 0));
    show("none", set(ONE, 0, 0)), show("it is", get(ONE, 0)), show("none with data", set(ONE, 0, 1));
    show("no class", set(ONE, 0, PRIORITY(4, 4))), show("no class", set(ONE, 0, PRIORITY(7, 4)));
    show("nobody", set(ONE, 999999, PRIORITY(2, 4))), show("no group", set(GROUP, 999999, PRIORITY(2, 4)));
    show("no user", set(USER, 65533, PRIORITY(2, 4))), show("no kind", set(9, 0, PRIORITY(2, 4)));
    show("real time", set(GROUP, 0, PRIORITY(1, 4))), show("it is", get(ONE, 0));
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL), pthread_join(other, NULL);
    show("of the first", get(ONE, 0));
    if (fork() == 0) ordinary(), _exit(0);
    wait(NULL);
}

static long adjust(const char *text) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY);
    long result = fd < 0 ? fd : write(fd, text, strlen(text));
    int error = errno;
    close(fd), errno = error;
    return result;
}

static void adjusted(void) {
    char text[20] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDONLY);
    long got = read(fd, text, sizeof text);
    printf("%ld bytes: %s", got, text);
    close(fd);
}

// Without CAP_SYS_RESOURCE nobody goes below what somebody with it has set; not every host's root has it.
static void give_up(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    capget(&header, sets);
    sets[0].effective &= ~(1u << 24);
    show("capset", capset(&header, sets));
}

static void out_of_memory(void) {
    give_up();
    adjusted();
    show("500", adjust("500\n")), adjusted(), show("1001", adjust("1001")), show("word", adjust("many")), adjusted();
    show("-1000", adjust("-1000")), adjusted(), show("200", adjust("200"));
    if (fork() == 0) {
        adjusted();
        syscall(SYS_setresuid, 1000, 1000, 1000), adjusted();
        _exit(0);
    }
    wait(NULL);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    priorities();
    out_of_memory();
}
