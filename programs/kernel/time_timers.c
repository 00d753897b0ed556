// Interval timers, alarms and POSIX timers.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static volatile int count, code, value, overrun;

static void notes(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    count++;
    code = info->si_code;
    value = info->si_value.sival_int;
    overrun = info->si_overrun;
}

static void until(int wanted) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    while (count < wanted) sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = notes, .sa_flags = SA_SIGINFO};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGVTALRM, &action, NULL);
    sigaction(SIGPROF, &action, NULL);

    show("no alarm before", alarm(100));
    show("alarm before", alarm(50));
    show("cancelled", alarm(0));
    show("none left", alarm(0));
    struct itimerval timer = {.it_value = {0, 20000}}, old;
    show("setitimer", setitimer(ITIMER_REAL, &timer, NULL));
    until(1);
    printf("fired: code %d\n", code);
    getitimer(ITIMER_REAL, &old);
    printf("over: %ld %ld\n", old.it_value.tv_sec, old.it_value.tv_usec);
    timer.it_interval = (struct timeval){0, 10000};
    setitimer(ITIMER_REAL, &timer, NULL);
    until(4);
    getitimer(ITIMER_REAL, &old);
    printf("periodic: interval %ld left %d\n", old.it_interval.tv_usec, old.it_value.tv_usec > 0);
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, &old);
    printf("old: interval %ld\n", old.it_interval.tv_usec);
    timer = (struct itimerval){{3, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    getitimer(ITIMER_REAL, &old);
    printf("interval without value: %ld\n", old.it_interval.tv_sec);
    timer = (struct itimerval){{0, 0}, {0, 1000000}};
    show("nonsense", setitimer(ITIMER_REAL, &timer, NULL));
    show("no such timer", setitimer(9, &timer, NULL));
    show("no such timer to ask", getitimer(9, &timer));
    timer = (struct itimerval){{0, 0}, {10, 700000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    show("alarm rounds", alarm(0));
    timer = (struct itimerval){{0, 0}, {0, 100000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    show("but never to none", alarm(0));

    // Processor time.
    count = 0;
    timer = (struct itimerval){{0, 0}, {0, 10000}};
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
    while (count == 0) {}
    printf("virtual: code %d\n", code);
    count = 0;
    setitimer(ITIMER_PROF, &timer, NULL);
    while (count == 0) {}
    printf("profiling: code %d\n", code);
    timer.it_value.tv_sec = 100;
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
    usleep(50000);
    getitimer(ITIMER_VIRTUAL, &old);
    show("does not run while asleep", old.it_value.tv_sec == 100 || old.it_value.tv_usec > 960000 || old.it_value.tv_sec == 99);

    // POSIX timers.
    timer_t one, two;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value = {.sival_int = 123}};
    show("timer_create", timer_create(CLOCK_MONOTONIC, &event, &one));
    struct itimerspec spec = {{0, 0}, {0, 20000000}}, was;
    count = 0;
    show("timer_settime", timer_settime(one, 0, &spec, NULL));
    until(1);
    printf("fired: code %d value %d overrun %d\n", code, value, overrun);
    timer_gettime(one, &was);
    printf("over: %ld %ld\n", (long)was.it_value.tv_sec, was.it_value.tv_nsec);
    // Expirations while the signal is blocked are counted.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    spec = (struct itimerspec){{0, 5000000}, {0, 5000000}};
    count = 0;
    timer_settime(one, 0, &spec, NULL);
    usleep(50000);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("overrun: %d, once %d\n", overrun >= 5 && timer_getoverrun(one) == overrun, count == 1);
    spec = (struct itimerspec){{0, 0}, {0, 0}};
    timer_settime(one, 0, &spec, &was);
    printf("disarmed, was: %ld\n", was.it_interval.tv_nsec);
    timer_gettime(one, &was);
    printf("now: %ld %ld\n", was.it_value.tv_nsec, was.it_interval.tv_nsec);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    show("default event", timer_create(CLOCK_REALTIME, NULL, &two));
    spec = (struct itimerspec){{0, 0}, now};
    count = 0;
    timer_settime(two, TIMER_ABSTIME, &spec, NULL);
    until(1);
    printf("absolute, in the past: code %d\n", code);
    show("timer_delete", timer_delete(two));
    show("again", syscall(SYS_timer_delete, two));
    spec.it_value.tv_nsec = 1000000000;
    show("nonsense", timer_settime(one, 0, &spec, NULL));
    event.sigev_notify = SIGEV_NONE;
    show("silent timer", timer_create(CLOCK_MONOTONIC, &event, &two));
    spec = (struct itimerspec){{0, 0}, {100, 0}};
    timer_settime(two, 0, &spec, NULL);
    timer_gettime(two, &was);
    show("it counts", was.it_value.tv_sec == 99 || was.it_value.tv_sec == 100);
    event = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 65};
    int id;
    show("bad signal", syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id));
    event = (struct sigevent){.sigev_notify = 9, .sigev_signo = SIGUSR1};
    show("bad notification", syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id));
    show("bad clock", syscall(SYS_timer_create, 77, NULL, &id));
    show("raw clock", syscall(SYS_timer_create, CLOCK_MONOTONIC_RAW, NULL, &id));
    show("no such timer", syscall(SYS_timer_gettime, 1234, &was));
    return 0;
}
