// What pthreads make of futexes.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static int queue[4], used, sum;
static long counter;

static void *produces(void *argument) {
    (void)argument;
    for (int i = 1; i <= 100; i++) {
        pthread_mutex_lock(&mutex);
        while (used == 4) pthread_cond_wait(&room, &mutex);
        queue[used++] = i;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consumes(void *argument) {
    (void)argument;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        while (used == 0) pthread_cond_wait(&filled, &mutex);
        sum += queue[--used];
        pthread_cond_broadcast(&room);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *counts(void *argument) {
    (void)argument;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static pthread_barrier_t barrier;
static int serial;
static void *meets(void *argument) {
    (void)argument;
    for (int i = 0; i < 5; i++)
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) __atomic_add_fetch(&serial, 1, 5);
    return NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised;
static void initialises(void) { initialised++; }
static void *initialise(void *argument) {
    (void)argument;
    pthread_once(&once, initialises);
    return NULL;
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static void *reads_and_writes(void *argument) {
    for (int i = 0; i < 50; i++) {
        if (argument) {
            pthread_rwlock_wrlock(&rwlock);
            counter++;
        } else {
            pthread_rwlock_rdlock(&rwlock);
        }
        pthread_rwlock_unlock(&rwlock);
    }
    return NULL;
}

static void two(void *(*one)(void *), void *(*other)(void *), void *argument) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, argument);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(void) {
    two(produces, consumes, NULL);
    printf("condition variables: %d\n", sum);
    two(counts, counts, NULL);
    printf("mutex: %ld\n", counter);
    pthread_barrier_init(&barrier, NULL, 2);
    two(meets, meets, NULL);
    printf("barrier: %d\n", serial);
    two(initialise, initialise, NULL);
    printf("once: %d\n", initialised);
    counter = 0;
    two(reads_and_writes, reads_and_writes, &counter);
    printf("rwlock: %ld\n", counter);

    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&mutex);
    printf("timed condition: %s\n", strerrorname_np(pthread_cond_timedwait(&filled, &mutex, &until)));
    printf("timed lock: %s\n", strerrorname_np(pthread_mutex_timedlock(&mutex, &until)));
    printf("try lock: %s\n", strerrorname_np(pthread_mutex_trylock(&mutex)));

    sem_t *semaphores = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&semaphores[0], 1, 0);
    sem_init(&semaphores[1], 1, 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 20; i++) {
            sem_wait(&semaphores[0]);
            sem_post(&semaphores[1]);
        }
        _exit(0);
    }
    int turns = 0;
    for (int i = 0; i < 20; i++) {
        sem_post(&semaphores[0]);
        sem_wait(&semaphores[1]);
        turns++;
    }
    waitpid(pid, NULL, 0);
    printf("semaphores between processes: %d\n", turns);
    clock_gettime(CLOCK_REALTIME, &until);
    printf("timed semaphore: %s\n", sem_timedwait(&semaphores[1], &until) == -1 ? strerrorname_np(errno) : "ok");
    return 0;
}
