/* A spin lock that is given back by a plain store: right on x86. -DBROKEN: it is taken by a load and a store. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lock;
static int inside;
static void *run(void *unused) {
    for (int i = 0; i < 2; i++) {
#ifdef BROKEN
        while (atomic_load_explicit(&lock, memory_order_acquire)) {}
        atomic_store_explicit(&lock, 1, memory_order_release);
#else
        while (atomic_exchange(&lock, 1)) {}
#endif
        inside++;
        assert(inside == 1);
        inside--;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    run(0);
    pthread_join(thread, 0);
    return 0;
}
