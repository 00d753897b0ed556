// Threads that take turns under a lock and a condition, and add up what they were given.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, threads;
static double sum;
static __thread int mine;

static void *work(void *argument) {
    int me = (int)(long)argument;
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        while (turn % threads != me) pthread_cond_wait(&changed, &lock);
        mine += round + me;
        sum += mine / 3.0;
        printf("thread %d round %d: %d %.6f\n", me, round, mine, sum);
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return (void *)(long)mine;
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t handles[16];
    for (long i = 0; i < threads; i++) pthread_create(&handles[i], NULL, work, (void *)i);
    long total = 0;
    for (int i = 0; i < threads; i++) {
        void *result;
        pthread_join(handles[i], &result);
        total += (long)result;
    }
    printf("total %ld\n", total);
    return 3;
}
