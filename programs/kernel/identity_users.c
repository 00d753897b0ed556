// Users and groups of a process without privileges, limits, prctl(2) and scheduling.
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

// Whoever starts us: from here on we are an ordinary user.
static void become_ordinary(void) {
    if (geteuid() != 0) return;
    syscall(SYS_setgroups, 0, NULL);
    syscall(SYS_setresgid, 1000, 1000, 1000);
    syscall(SYS_setresuid, 1000, 1000, 1000);
}

static void users(void) {
    uid_t self = getuid(), real, effective, saved;
    show("getresuid", getresuid(&real, &effective, &saved));
    show("all the same", real == self && effective == self && saved == self);
    show("setuid to self", syscall(SYS_setuid, self));
    show("setuid to root", syscall(SYS_setuid, 0));
    show("setuid to -1", syscall(SYS_setuid, -1));
    show("setreuid to self", syscall(SYS_setreuid, self, self));
    show("setreuid unchanged", syscall(SYS_setreuid, -1, -1));
    show("setreuid to root", syscall(SYS_setreuid, 0, -1));
    show("setresuid unchanged", syscall(SYS_setresuid, -1, -1, -1));
    show("setresuid to root", syscall(SYS_setresuid, -1, 0, -1));
    show("setgid to root", syscall(SYS_setgid, 0));
    show("setregid to root", syscall(SYS_setregid, -1, 0));
    show("setresgid to root", syscall(SYS_setresgid, -1, -1, 0));
    show("setfsuid says the old one", syscall(SYS_setfsuid, 0) == (long)self);
    show("and has not changed", syscall(SYS_setfsuid, -1) == (long)self);
    show("setgroups", syscall(SYS_setgroups, 0, NULL));
    gid_t groups[1];
    show("getgroups negative", getgroups(-1, groups));
}

static void limits(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 64;
    show("lower", setrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_max = 100;
    show("lower both", setrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_max = 200;
    show("raise the hard one", setrlimit(RLIMIT_NOFILE, &limit));
    limit = (struct rlimit){50, 20};
    show("soft above hard", setrlimit(RLIMIT_NOFILE, &limit));
    show("no such limit", getrlimit(99, &limit));
    show("prlimit", prlimit(0, RLIMIT_NOFILE, NULL, &limit));
    printf("now: %ld %ld\n", (long)limit.rlim_cur, (long)limit.rlim_max);
    show("prlimit nobody", prlimit(999999, RLIMIT_NOFILE, NULL, &limit));
    show("inherited", dup2(1, 63));
    show("enforced", dup2(1, 64));
}

static void controls(void) {
    char name[17] = "";
    prctl(PR_SET_NAME, "short");
    prctl(PR_GET_NAME, name);
    printf("name: %s\n", name);
    show("dumpable nonsense", prctl(PR_SET_DUMPABLE, 7));
    show("dumpable off", prctl(PR_SET_DUMPABLE, 0));
    show("dumpable", prctl(PR_GET_DUMPABLE));
    show("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    show("set wrongly", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
    show("set", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    show("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    show("keepcaps", prctl(PR_GET_KEEPCAPS));
    show("keepcaps nonsense", prctl(PR_SET_KEEPCAPS, 5));
    show("slack", prctl(PR_SET_TIMERSLACK, 1000));
    show("slack", prctl(PR_GET_TIMERSLACK));
    show("capability in the bounding set", prctl(PR_CAPBSET_READ, 99));
    show("ask a bad address", prctl(PR_GET_NAME, 8));
}

static void scheduling(void) {
    struct sched_param parameter = {.sched_priority = 0};
    show("policy", sched_getscheduler(0));
    show("policy of nobody", sched_getscheduler(999999));
    show("negative", sched_getscheduler(-1));
    show("batch", sched_setscheduler(0, SCHED_BATCH, &parameter));
    show("policy", sched_getscheduler(0));
    parameter.sched_priority = 5;
    show("priority without real time", sched_setscheduler(0, SCHED_OTHER, &parameter));
    show("real time", sched_setscheduler(0, SCHED_FIFO, &parameter));
    parameter.sched_priority = 100;
    show("too high", sched_setscheduler(0, SCHED_RR, &parameter));
    show("no such policy", sched_setscheduler(0, 77, &parameter));
    show("highest", sched_get_priority_max(SCHED_FIFO));
    show("lowest", sched_get_priority_min(SCHED_RR));
    show("of others", sched_get_priority_max(SCHED_OTHER));
    show("of none", sched_get_priority_max(77));
    show("nice", nice(3));
    show("getpriority", getpriority(PRIO_PROCESS, 0));
    show("less nice", setpriority(PRIO_PROCESS, 0, 1));
    show("far too nice", setpriority(PRIO_PROCESS, 0, 100));
    show("getpriority", getpriority(PRIO_PROCESS, 0));
    show("nobody", setpriority(PRIO_PROCESS, 999999, 5));
    show("no such kind", setpriority(9, 0, 5));
    show("yield", sched_yield());
    cpu_set_t set;
    CPU_ZERO(&set);
    show("no processor", sched_setaffinity(0, sizeof set, &set));
    show("ask for none", syscall(SYS_sched_getaffinity, 0, 0, &set));
    show("ask oddly", syscall(SYS_sched_getaffinity, 0, 9, &set));
    show("some processor", sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= 1);
}

static void machine(void) {
    struct utsname name;
    show("uname", uname(&name));
    printf("%s %s\n", name.sysname, name.machine);
    struct sysinfo info;
    show("sysinfo", sysinfo(&info));
    show("memory", info.totalram > 0 && info.freeram <= info.totalram && info.procs > 0);
    unsigned char one[16], two[16];
    show("getrandom", getrandom(one, 16, 0));
    show("getrandom again", getrandom(two, 16, GRND_NONBLOCK));
    show("differs", memcmp(one, two, 16) != 0);
    show("bad flags", getrandom(one, 16, 64));
    show("both kinds", getrandom(one, 16, GRND_RANDOM | GRND_INSECURE));
    show("bad address", syscall(SYS_getrandom, 8, 16, 0));
    unsigned processor = 99;
    show("getcpu", syscall(SYS_getcpu, &processor, NULL, NULL));
    show("arch_prctl nonsense", syscall(SYS_arch_prctl, 0x9999, 0));
    uint64_t base = 0;
    show("arch_prctl get fs", syscall(SYS_arch_prctl, 0x1003, &base));
    show("it is something", base != 0);
    show("personality", syscall(SYS_personality, 0xffffffff) != -1);
    show("sethostname", sethostname("x", 1));
    show("getppid", getppid() > 0);
}

static void in_child(void (*body)(void)) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        become_ordinary();
        body();
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("child: %#x\n", status);
}

int main(void) {
    in_child(users);
    in_child(limits);
    in_child(controls);
    in_child(scheduling);
    in_child(machine);
    return 0;
}
