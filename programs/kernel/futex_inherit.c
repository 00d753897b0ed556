// Mutexes that inherit priority, and what they say about their owners.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static long futex(volatile uint32_t *word, int operation, const struct timespec *time) {
    return syscall(SYS_futex, word, operation, 0, time, NULL, 0);
}

static pthread_mutex_t mutex;
static volatile long counter;
static volatile uint32_t word;

static void *counts(void *argument) {
    (void)argument;
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        if (i % 50 == 0) sched_yield();
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *locks(void *argument) {
    (void)argument;
    return (void *)futex(&word, FUTEX_LOCK_PI_PRIVATE, NULL);
}

static void *dies(void *argument) {
    pthread_mutex_lock(argument);
    return NULL;
}

int main(void) {
    uint32_t self = syscall(SYS_gettid);
    show("lock", futex(&word, FUTEX_LOCK_PI_PRIVATE, NULL));
    show("the word names its owner", word == self);
    show("lock again", futex(&word, FUTEX_LOCK_PI_PRIVATE, NULL));
    show("try again", futex(&word, FUTEX_TRYLOCK_PI_PRIVATE, NULL));
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, locks, NULL);
    while (!(word & FUTEX_WAITERS)) usleep(1000);
    show("somebody waits", (word & FUTEX_TID_MASK) == self);
    show("unlock", futex(&word, FUTEX_UNLOCK_PI_PRIVATE, NULL));
    void *result;
    pthread_join(threads[0], &result);
    show("handed over", (long)result);
    show("not ours any more", futex(&word, FUTEX_UNLOCK_PI_PRIVATE, NULL));
    word = 0;
    show("unlock what is free", futex(&word, FUTEX_UNLOCK_PI_PRIVATE, NULL));
    show("try", futex(&word, FUTEX_TRYLOCK_PI_PRIVATE, NULL));
    futex(&word, FUTEX_UNLOCK_PI_PRIVATE, NULL);
    show("free again", word);

    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attributes);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, counts, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    show("counted", counter);
    pthread_mutex_lock(&mutex);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    printf("try: %s\n", strerrorname_np(pthread_mutex_trylock(&mutex)));
    pthread_mutex_unlock(&mutex);

    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_init(shared, &attributes);
    pthread_create(&threads[0], NULL, dies, shared);
    pthread_join(threads[0], NULL);
    printf("owner died: %s\n", strerrorname_np(pthread_mutex_lock(shared)));
    pthread_mutex_consistent(shared);
    pthread_mutex_unlock(shared);
    fflush(stdout);
    if (fork() == 0) {
        pthread_mutex_lock(shared);
        _exit(0);
    }
    wait(NULL);
    printf("owner's process ended: %s\n", strerrorname_np(pthread_mutex_lock(shared)));
    return 0;
}
