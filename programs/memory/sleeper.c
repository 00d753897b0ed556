/* A lost wake-up: one thread says that it waits and looks for work, the other makes work and looks whether somebody waits. On x86
   both stores may wait in store buffers while both look: the first one sleeps for ever. -DFENCE: a fence between the two. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static atomic_int waits, work;
static sem_t wake;
static void fence(void) {
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
}
static void *worker(void *unused) {
    (void)unused;
    atomic_store_explicit(&waits, 1, memory_order_release);
    fence();
    if (!atomic_load_explicit(&work, memory_order_acquire)) sem_wait(&wake);
    return 0;
}
int main(void) {
    pthread_t thread;
    sem_init(&wake, 0, 0);
    pthread_create(&thread, 0, worker, 0);
    atomic_store_explicit(&work, 1, memory_order_release);
    fence();
    if (atomic_load_explicit(&waits, memory_order_acquire)) sem_post(&wake);
    pthread_join(thread, 0);
    return 0;
}
