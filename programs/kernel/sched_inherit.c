// What children inherit of how they are scheduled, and what /proc tells of time.
#include "filecheck.h"
#include <sched.h>
#include <sys/times.h>

static void tell(void) {
    struct sched_param parameter;
    sched_getparam(0, &parameter);
    printf("child: policy %x, priority %d, nice %d\n", sched_getscheduler(0), parameter.sched_priority,
           getpriority(PRIO_PROCESS, 0));
}

static void inherit(const char *name, int policy, int priority, int nice) {
    struct sched_param parameter = {.sched_priority = priority};
    CHECK(name, sched_setscheduler(0, policy, &parameter));
    setpriority(PRIO_PROCESS, 0, nice);
    in_child(tell);
}

static void from_reset(void) {
    inherit("reset", SCHED_OTHER | SCHED_RESET_ON_FORK, 0, -5);
    inherit("reset, modest", SCHED_OTHER | SCHED_RESET_ON_FORK, 0, 4);
    inherit("reset, batch", SCHED_BATCH | SCHED_RESET_ON_FORK, 0, 4);
    inherit("reset, real time", SCHED_FIFO | SCHED_RESET_ON_FORK, 7, 4);
}

static long field(const char *path, int number) {
    char text[1024] = "";
    int fd = open(path, O_RDONLY);
    read(fd, text, sizeof text - 1);
    close(fd);
    char *at = strrchr(text, ')') + 2;
    for (int i = 3; i < number; i++)
        at = strchr(at, ' ') + 1;
    return atol(at);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    inherit("plain", SCHED_OTHER, 0, 0);
    in_child(from_reset);
    cpu_set_t set;
    CHECK("affinity of nobody", syscall(SYS_sched_getaffinity, -1, sizeof set, &set));
    CHECK("to nobody", syscall(SYS_sched_setaffinity, -1, 8, &set));
    CHECK("policy of nobody", syscall(SYS_sched_getscheduler, -1));
    struct tms start, now;
    times(&start);
    do
        for (volatile int i = 0; i < 1000000; i++)
            ;
    while (times(&now), now.tms_utime + now.tms_stime < start.tms_utime + start.tms_stime + 4);
    TELL("time is told", field("/proc/self/stat", 14) + field("/proc/self/stat", 15) >= 3);
    TELL("of children, too", field("/proc/self/stat", 16) >= 0);
}
