// Threads and the end of a process.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static void *answer(void *argument) {
    return (char *)argument + 1;
}

static void *exits_process(void *argument) {
    (void)argument;
    exit(17);
}

static void *exits_later(void *argument) {
    pthread_join(*(pthread_t *)argument, NULL);
    syscall(SYS_exit, 33);
    return NULL;
}

static void *locks_and_dies(void *argument) {
    pthread_mutex_lock(argument);
    return NULL;
}

static void *waits(void *argument) {
    (void)argument;
    for (;;) pause();
}

static void *names(void *argument) {
    prctl(PR_SET_NAME, "a name that is far too long");
    prctl(PR_GET_NAME, argument);
    return NULL;
}

static int status_of(void (*body)(void)) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static void exit_from_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, exits_process, NULL);
    for (;;) pause();
}

static pthread_t leader;

static void leader_ends_first(void) {
    leader = pthread_self();
    pthread_t thread;
    pthread_create(&thread, NULL, exits_later, &leader);
    syscall(SYS_exit, 44);
}

static void signal_kills_all(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    pthread_kill(thread, SIGTERM);
    for (;;) pause();
}

int main(void) {
    pthread_t threads[4];
    long sum = 0;
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, answer, (void *)(i * 10));
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    show("joined", sum);

    char name[16] = "";
    pthread_create(&threads[0], NULL, names, name);
    pthread_join(threads[0], NULL);
    printf("name: %s\n", name);

    int status = status_of(exit_from_thread);
    show("exit in a thread", WEXITSTATUS(status));
    status = status_of(leader_ends_first);
    printf("leader ended first: %#x\n", status);
    status = status_of(signal_kills_all);
    show("a signal to one thread ends all", WTERMSIG(status));

    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_init(mutex, &attributes);
    pthread_create(&threads[0], NULL, locks_and_dies, mutex);
    pthread_join(threads[0], NULL);
    int code = pthread_mutex_lock(mutex);
    printf("robust mutex of a dead thread: %s\n", strerrorname_np(code));
    pthread_mutex_consistent(mutex);
    pthread_mutex_unlock(mutex);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_mutex_lock(mutex);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    code = pthread_mutex_lock(mutex);
    printf("robust mutex of a dead process: %s\n", strerrorname_np(code));
    pthread_mutex_unlock(mutex);
    code = pthread_mutex_lock(mutex);
    printf("not made consistent: %s\n", strerrorname_np(code));
    show("tgkill wrong group", syscall(SYS_tgkill, 1, syscall(SYS_gettid), 0));
    show("tgkill bad", syscall(SYS_tgkill, -1, syscall(SYS_gettid), 0));
    show("tkill self", syscall(SYS_tkill, syscall(SYS_gettid), 0));
    show("tkill bad", syscall(SYS_tkill, 0, 0));
    return 0;
}
