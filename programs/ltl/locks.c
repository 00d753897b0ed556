// Two threads take turns under a lock, for ever. Does whoever waits come in at some time?
// A test-and-set lock may starve one of them, however fair the scheduler is. -DPETERSON: Peterson's algorithm does not.
#include <pthread.h>
#include <stdatomic.h>

volatile int waiting[2], inside[2];

#ifdef PETERSON
static atomic_int wants[2], turn;
static void lock(int me) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) != me) {}
}
static void unlock(int me) { atomic_store(&wants[me], 0); }
#else
static atomic_int taken;
static void lock(int me) {
    (void)me;
    while (atomic_exchange(&taken, 1)) {}
}
static void unlock(int me) { (void)me, atomic_store(&taken, 0); }
#endif

static void *work(void *argument) {
    int me = (int)(long)argument;
    for (;;) {
        waiting[me] = 1;
        lock(me);
        waiting[me] = 0;
        inside[me] = 1;
        inside[me] = 0;
        unlock(me);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)1);
    work(0);
}
