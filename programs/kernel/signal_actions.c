// sigaction(2), sigprocmask(2), sigpending(2), sigaltstack(2).
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static volatile int count, depth, depth_max, order[64], order_count, seen_code, seen_value, on_stack;
static char *stack_base;

static void counts(int signal) {
    (void)signal;
    count++;
}

static void nests(int signal) {
    depth++;
    if (depth > depth_max) depth_max = depth;
    if (count++ < 3) raise(signal);
    depth--;
}

static void notes(int signal, siginfo_t *info, void *context) {
    (void)context;
    order[order_count++] = signal;
    seen_code = info->si_code;
    seen_value = info->si_value.sival_int;
}

static void looks(int signal) {
    (void)signal;
    char here;
    on_stack = &here >= stack_base && &here < stack_base + 65536;
    stack_t stack;
    sigaltstack(NULL, &stack);
    count = stack.ss_flags;
    errno = 0;
    depth = sigaltstack(&stack, NULL) == -1 ? errno : 0;
}

static void set(int signal, void (*handler)(int), int flags, int blocked) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    if (blocked) sigaddset(&action.sa_mask, blocked);
    sigaction(signal, &action, NULL);
}

static void mask(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(how, &set, NULL);
}

static int pending(int signal) {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, signal);
}

int main(void) {
    struct sigaction action = {.sa_handler = counts};
    show("SIGKILL cannot be caught", syscall(SYS_rt_sigaction, SIGKILL, &action, NULL, 8));
    show("SIGSTOP cannot be caught", syscall(SYS_rt_sigaction, SIGSTOP, &action, NULL, 8));
    show("SIGKILL can be asked", syscall(SYS_rt_sigaction, SIGKILL, NULL, &action, 8));
    show("signal 0", syscall(SYS_rt_sigaction, 0, NULL, &action, 8));
    show("signal 65", syscall(SYS_rt_sigaction, 65, NULL, &action, 8));
    show("bad size", syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 16));
    show("bad address", syscall(SYS_rt_sigaction, SIGUSR1, (void *)8, NULL, 8));
    show("bad how", syscall(SYS_rt_sigprocmask, 7, &(uint64_t){0}, NULL, 8));
    show("bad how without set", syscall(SYS_rt_sigprocmask, 7, NULL, &(uint64_t){0}, 8));

    set(SIGUSR1, counts, 0, 0);
    raise(SIGUSR1);
    show("handled", count);
    count = depth_max = 0;
    set(SIGUSR1, nests, 0, 0);
    raise(SIGUSR1);
    show("not nested", depth_max);
    count = depth_max = 0;
    set(SIGUSR1, nests, SA_NODEFER, 0);
    raise(SIGUSR1);
    show("SA_NODEFER nests", depth_max);
    count = 0;
    set(SIGUSR1, counts, SA_RESETHAND, 0);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &action);
    show("SA_RESETHAND", action.sa_handler == SIG_DFL && count == 1);

    uint64_t all = ~0ul, got = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &got, 8);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &got, &all, 8);
    printf("full mask: %#lx\n", all);

    // Standard signals are counted once, real-time signals are queued; low numbers first.
    count = 0;
    set(SIGUSR1, counts, 0, 0);
    mask(SIG_BLOCK, SIGUSR1);
    for (int i = 0; i < 5; i++) raise(SIGUSR1);
    show("pending", pending(SIGUSR1));
    mask(SIG_UNBLOCK, SIGUSR1);
    show("counted once", count);
    struct sigaction noting = {.sa_sigaction = notes, .sa_flags = SA_SIGINFO};
    sigfillset(&noting.sa_mask);
    for (int i = 0; i < 4; i++) sigaction(SIGRTMIN + i, &noting, NULL);
    sigaction(SIGUSR2, &noting, NULL);
    sigset_t some, old;
    sigfillset(&some);
    sigprocmask(SIG_BLOCK, &some, &old);
    for (int i = 3; i >= 0; i--) sigqueue(getpid(), SIGRTMIN + i, (union sigval){.sival_int = i});
    sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 77});
    raise(SIGUSR2);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("order:");
    for (int i = 0; i < order_count; i++) printf(" %d", order[i] >= SIGRTMIN ? order[i] - SIGRTMIN : -order[i]);
    printf("\nlast: code %d value %d\n", seen_code, seen_value);
    kill(getpid(), SIGUSR2);
    show("kill's code", seen_code);
    raise(SIGUSR2);
    show("tkill's code", seen_code);

    // Ignoring throws away what is pending.
    count = 0;
    mask(SIG_BLOCK, SIGUSR1);
    raise(SIGUSR1);
    set(SIGUSR1, SIG_IGN, 0, 0);
    show("thrown away", pending(SIGUSR1));
    raise(SIGUSR1);
    show("blocked and ignored is kept", pending(SIGUSR1));
    set(SIGUSR1, counts, 0, 0);
    mask(SIG_UNBLOCK, SIGUSR1);
    show("and delivered", count);
    mask(SIG_BLOCK, SIGCHLD);
    raise(SIGCHLD);
    show("blocked SIGCHLD is kept", pending(SIGCHLD));
    set(SIGCHLD, SIG_DFL, 0, 0);
    show("until its action is set", pending(SIGCHLD));

    // Alternate stacks.
    stack_base = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = stack_base, .ss_size = 65536};
    stack_t tiny = {.ss_sp = stack_base, .ss_size = 100};
    stack_t odd = {.ss_sp = stack_base, .ss_size = 65536, .ss_flags = 4};
    show("too small", sigaltstack(&tiny, NULL));
    show("bad flags", sigaltstack(&odd, NULL));
    show("set", sigaltstack(&stack, NULL));
    set(SIGUSR1, looks, SA_ONSTACK, 0);
    raise(SIGUSR1);
    printf("on it %d flags %d changing it there: %s\n", on_stack, count, strerrorname_np(depth));
    set(SIGUSR1, looks, 0, 0);
    raise(SIGUSR1);
    printf("without SA_ONSTACK: on it %d flags %d\n", on_stack, count);
    stack.ss_flags = SS_DISABLE;
    show("disable", sigaltstack(&stack, NULL));
    sigaltstack(NULL, &stack);
    printf("disabled: %d %zu\n", stack.ss_flags, stack.ss_size);
    return 0;
}
