// Clocks and sleeping.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static int64_t now(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) == -1) return -1;
    return time.tv_sec * 1000000000l + time.tv_nsec;
}

int main(void) {
    struct timespec time, left;
    clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                          CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_TAI};
    for (int i = 0; i < 9; i++) {
        int64_t first = now(clocks[i]), second = now(clocks[i]);
        printf("clock %d: runs %d goes on %d\n", clocks[i], first >= 0, second >= first);
        clock_getres(clocks[i], &time);
        printf("resolution: %ld\n", time.tv_nsec);
    }
    show("no such clock", clock_gettime(10, &time));
    show("far too high", clock_gettime(77, &time));
    show("resolution of none", clock_getres(77, &time));
    show("resolution to nowhere", clock_getres(CLOCK_REALTIME, NULL));
    show("bad address", syscall(SYS_clock_gettime, CLOCK_REALTIME, 8));
    time = (struct timespec){0, -1};
    show("set to nonsense", syscall(SYS_clock_settime, CLOCK_REALTIME, &time));
    time = (struct timespec){1700000000, 0};
    show("monotonic cannot be set", syscall(SYS_clock_settime, CLOCK_MONOTONIC, &time));
    clockid_t own;
    show("own processor clock", clock_getcpuclockid(0, &own));
    show("it runs", now(own) >= 0);
    pthread_getcpuclockid(pthread_self(), &own);
    show("of a thread", now(own) >= 0);
    show("of nobody", clock_getcpuclockid(999999, &own));

    int64_t before = now(CLOCK_MONOTONIC);
    time = (struct timespec){0, 30000000};
    show("nanosleep", nanosleep(&time, NULL));
    show("long enough", now(CLOCK_MONOTONIC) - before >= 30000000);
    time = (struct timespec){0, 0};
    show("for nothing", nanosleep(&time, NULL));
    time = (struct timespec){0, 1000000000};
    show("nonsense", nanosleep(&time, NULL));
    time = (struct timespec){-1, 0};
    show("negative", nanosleep(&time, NULL));
    show("nowhere", syscall(SYS_nanosleep, 8, NULL));
    before = now(CLOCK_MONOTONIC);
    time = (struct timespec){(before + 30000000) / 1000000000, (before + 30000000) % 1000000000};
    show("until", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, &left));
    show("long enough", now(CLOCK_MONOTONIC) - before >= 30000000);
    show("until the past", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, &left));
    int64_t real = now(CLOCK_REALTIME) + 20000000;
    time = (struct timespec){real / 1000000000, real % 1000000000};
    show("until by real time", syscall(SYS_clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL));
    show("long enough", now(CLOCK_REALTIME) >= real);
    show("raw clock cannot wake", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC_RAW, 0, &time, NULL));
    show("coarse clock cannot wake", syscall(SYS_clock_nanosleep, CLOCK_REALTIME_COARSE, 0, &time, NULL));
    show("no such clock to sleep by", syscall(SYS_clock_nanosleep, 77, 0, &time, NULL));

    struct timeval value;
    show("gettimeofday", gettimeofday(&value, NULL));
    show("agrees", labs(value.tv_sec - (long)(now(CLOCK_REALTIME) / 1000000000)) <= 1);
    show("time agrees", labs((long)syscall(SYS_time, NULL) - value.tv_sec) <= 1);
    // Sleeping costs no processor time.
    int64_t used = now(CLOCK_PROCESS_CPUTIME_ID);
    usleep(200000);
    show("asleep", now(CLOCK_PROCESS_CPUTIME_ID) - used < 100000000);
    struct tms tms;
    show("times", times(&tms) != -1);
    struct rusage usage;
    show("getrusage self", getrusage(RUSAGE_SELF, &usage));
    show("getrusage children", getrusage(RUSAGE_CHILDREN, &usage));
    printf("children: %ld\n", usage.ru_utime.tv_sec);
    show("getrusage thread", getrusage(RUSAGE_THREAD, &usage));
    show("getrusage nonsense", getrusage(7, &usage));
    return 0;
}
