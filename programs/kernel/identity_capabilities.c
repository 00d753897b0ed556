// Capabilities: what changes of user ids leave, and what is allowed without them. Needs root on the host.
#include "netcheck.h"
#include <grp.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { CHOWN = 0, OVERRIDE = 1, FOWNER = 3, KILL = 5, SETGID = 6, SETUID = 7, BIND = 10, NICE = 23, RESOURCE = 24 };

static struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
static struct __user_cap_data_struct sets[2];

static uint64_t set_of(int which) {
    capget(&header, sets);
    uint32_t low[] = {sets[0].effective, sets[0].permitted, sets[0].inheritable};
    uint32_t high[] = {sets[1].effective, sets[1].permitted, sets[1].inheritable};
    return (uint64_t)high[which] << 32 | low[which];
}

// Which of those that are asked for in this program are in the sets.
static void sets_now(const char *name) {
    printf("%s: effective %d%d%d%d, permitted %d, inheritable %lx\n", name, (int)(set_of(0) >> OVERRIDE & 1),
           (int)(set_of(0) >> SETUID & 1), (int)(set_of(0) >> BIND & 1), (int)(set_of(0) >> NICE & 1),
           (int)(set_of(1) >> SETUID & 1), (long)set_of(2));
}

static void status(const char *name) {
    char line[200];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "CapEff", 6) || !strncmp(line, "CapPrm", 6) || !strncmp(line, "CapInh", 6)) printf("%s: %s", name, line);
    if (file) fclose(file);
}

static long change(uint64_t effective, uint64_t permitted, uint64_t inheritable) {
    struct __user_cap_data_struct both[2] = {
        {effective, permitted, inheritable}, {effective >> 32, permitted >> 32, inheritable >> 32}};
    return capset(&header, both);
}

static long without(int capability) { return change(set_of(0) & ~(1ul << capability), set_of(1), 0); }

static long bind_low(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in name = loopback(81);
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    long result = bind(fd, (void *)&name, sizeof name);
    int error = errno;
    close(fd), errno = error;
    return result;
}

static long open_it(int flags) {
    int fd = open("theirs", flags);
    if (fd >= 0) close(fd);
    return fd >= 0 ? 0 : fd;
}

static void each_alone(void) {
    struct rlimit limit = {10, 1ul << 40};
    show("without CHOWN", without(CHOWN)), show("chown", chown("theirs", 1001, 1001));
    show("open", open_it(O_RDWR)), show("chmod", chmod("theirs", 0));
    show("without OVERRIDE", without(OVERRIDE)), show("read", open_it(O_RDONLY)), show("write", open_it(O_WRONLY));
    show("without READ_SEARCH", without(2)), show("read", open_it(O_RDONLY)), show("access", access("theirs", R_OK));
    show("without FOWNER", without(FOWNER)), show("chmod", chmod("theirs", 0));
    show("without BIND", without(BIND)), show("bind", bind_low());
    show("without NICE", without(NICE)), show("nice", setpriority(PRIO_PROCESS, 0, -5));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}), show("limit", setrlimit(RLIMIT_CORE, &limit));
    show("without SETGID", without(SETGID)), show("setgroups", setgroups(0, NULL)), show("setgid", syscall(SYS_setgid, 5));
    show("without SETUID", without(SETUID)), show("setuid", syscall(SYS_setuid, 1000));
    show("setuid to self", syscall(SYS_setuid, 0));
    show("more than permitted", change(set_of(1), set_of(1), 0)), show("chown", chown("theirs", 1000, 1000));
    show("give up what is permitted", change(0, 0, 0)), show("and take it back", change(2, 2, 0));
    sets_now("nothing is left");
}

static void after_setuid(void) {
    sets_now("root");
    show("inheritable", change(set_of(0), set_of(1), 1 << KILL)), sets_now("with one that is inheritable");
    show("setresuid, saved stays", syscall(SYS_setresuid, 1000, 1000, 0)), sets_now("saved is root");
    show("read", open_it(O_RDONLY)), show("seteuid", syscall(SYS_setresuid, -1, 0, -1)), sets_now("effective again");
    show("setuid", syscall(SYS_setuid, 1000)), sets_now("an ordinary user"), status("an ordinary user");
    show("setuid back", syscall(SYS_setuid, 0));
    show("capset", change(1 << OVERRIDE, 1 << OVERRIDE, 0));
}

static void kept(void) {
    show("keep", prctl(PR_SET_KEEPCAPS, 1));
    show("setuid", syscall(SYS_setuid, 1000)), sets_now("kept"), show("bind", bind_low());
    show("take", change(1 << OVERRIDE | 1 << BIND | 1 << SETUID, set_of(1), 0)), sets_now("taken"), status("taken");
    show("bind", bind_low()), show("read", open_it(O_RDONLY)), show("access", access("theirs", R_OK));
    show("kill", kill(getppid(), 0)), show("setuid to another", syscall(SYS_setuid, 1001)), sets_now("another");
}

static void file_system(void) {
    show("setfsuid", setfsuid(1000)), sets_now("files of another"), show("read", open_it(O_RDONLY));
    show("chown", chown("theirs", 1001, 1001)), show("bind", bind_low());
    show("back", setfsuid(0)), sets_now("back"), show("read", open_it(O_RDONLY));
}

static void executed(void) {
    show("inheritable", change(set_of(0), set_of(1), 1 << KILL)), show("setuid", syscall(SYS_setuid, 1000));
    execl("/proc/self/exe", "again", "inherited", NULL);
}

static void apart(const char *name, void (*test)(void)) {
    printf("-- %s\n", name), fflush(stdout);
    if (fork() == 0) test(), fflush(stdout), _exit(0);
    wait(NULL);
}

int main(int count, char **arguments) {
    (void)arguments;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count > 1) return sets_now("executed"), 0;
    // Where we run, not even root may have this one.
    change(set_of(0) & ~(1ul << RESOURCE), set_of(1) & ~(1ul << RESOURCE), 0);
    close(open("theirs", O_CREAT | O_WRONLY, 0600));
    chown("theirs", 1001, 1001), chmod("theirs", 0), chmod(".", 0755);
    status("at first");
    apart("each alone", each_alone);
    apart("after setuid", after_setuid);
    apart("kept", kept);
    apart("file system", file_system);
    apart("executed", executed);
}
