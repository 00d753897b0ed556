// Signals that instructions cause: their codes and addresses, and what forces them through.
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
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile siginfo_t seen;

static void catches(int signal, siginfo_t *info, void *context) {
    (void)context;
    seen = *info;
    siglongjmp(back, signal);
}

static void skips(int signal, siginfo_t *info, void *context) {
    (void)signal;
    seen = *info;
    ucontext_t *user = context;
    user->uc_mcontext.gregs[REG_RAX] = 4242;
    user->uc_mcontext.gregs[REG_RIP] += 2;
}

static void try(const char *name, void (*body)(void *), void *argument) {
    int signal = sigsetjmp(back, 1);
    if (signal == 0) {
        body(argument);
        printf("%s: nothing\n", name);
        return;
    }
    uintptr_t address = (uintptr_t)seen.si_addr;
    printf("%s: signal %d code %d address %s\n", name, signal, seen.si_code,
           address == (uintptr_t)argument ? "as given" : address == 0 ? "null" : "other");
}

static void loads(void *address) { (void)*(volatile char *)address; }
static void stores(void *address) { *(volatile char *)address = 1; }
static void calls(void *address) { ((void (*)(void))address)(); }
static void divides(void *zero) {
    volatile int divisor = (int)(intptr_t)zero;
    volatile int one = 1;
    volatile int result = one / divisor;
    (void)result;
}
static void overflows(void *unused) {
    (void)unused;
    volatile int least = -2147483647 - 1, minus = -1;
    volatile int result = least / minus;
    (void)result;
}
static void illegal(void *unused) {
    (void)unused;
    __asm__ volatile("ud2");
}
static void halts(void *unused) {
    (void)unused;
    __asm__ volatile("hlt");
}

static int status_of(void (*body)(void)) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        body();
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static void faults_blocked(void) {
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    stores((void *)16);
}

static void faults_ignored(void) {
    signal(SIGSEGV, SIG_IGN);
    stores((void *)16);
}

static void bad_stack(void) {
    __asm__ volatile("xor %esp, %esp; push %rax");
}

int main(void) {
    struct sigaction action = {.sa_sigaction = catches, .sa_flags = SA_SIGINFO | SA_NODEFER};
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (int i = 0; i < 5; i++) sigaction(signals[i], &action, NULL);
    char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[] = "/tmp/allways-fault-XXXXXX";
    int fd = mkstemp(name);
    write(fd, "x", 1);
    char *file = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    try("load nowhere", loads, (void *)16);
    try("store nowhere", stores, (void *)0x123450);
    try("store read-only", stores, page + 5);
    try("load forbidden", loads, guarded + 9);
    try("call data", calls, page);
    try("call nowhere", calls, (void *)0x5550);
    try("file", loads, file);
    try("rest of its last page", stores, file + 4000);
    try("behind its end", loads, file + 4096);
    try("divide by zero", divides, NULL);
    try("divide too large", overflows, NULL);
    try("illegal", illegal, NULL);
    try("privileged", halts, NULL);
    try("not canonical", loads, (void *)0x8000000000000000);

    action.sa_sigaction = skips;
    sigaction(SIGILL, &action, NULL);
    long value;
    __asm__ volatile("ud2" : "=a"(value) : "a"(1));
    printf("handler changes registers: %ld code %d\n", value, seen.si_code);
    action.sa_sigaction = catches;
    if (sigsetjmp(back, 1) == 0) {
        __asm__ volatile("int3");
    } else {
        printf("breakpoint: signal %d code %d\n", seen.si_signo, seen.si_code);
    }
    signal(SIGSEGV, SIG_DFL);
    printf("default: %#x\n", status_of((void (*)(void))bad_stack));
    sigaction(SIGSEGV, &action, NULL);
    printf("blocked: %#x\n", status_of(faults_blocked));
    printf("ignored: %#x\n", status_of(faults_ignored));
    printf("no stack for the handler: %#x\n", status_of(bad_stack));
    unlink(name);
    return 0;
}
