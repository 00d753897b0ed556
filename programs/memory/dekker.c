/* Dekker's lock: each thread raises its flag and looks at the other's. On x86 the store of the flag may wait in the store
   buffer while the load goes ahead: both are inside. -DFENCE: a fence between the two. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag[2], turn;
static int inside;
static void fence(void) {
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
}
static void enter(int me) {
    atomic_store_explicit(&flag[me], 1, memory_order_release);
    fence();
    while (atomic_load_explicit(&flag[!me], memory_order_acquire)) {
        if (atomic_load_explicit(&turn, memory_order_acquire) == me) continue;
        atomic_store_explicit(&flag[me], 0, memory_order_release);
        while (atomic_load_explicit(&turn, memory_order_acquire) != me) {}
        atomic_store_explicit(&flag[me], 1, memory_order_release);
        fence();
    }
}
static void leave(int me) {
    atomic_store_explicit(&turn, !me, memory_order_release);
    atomic_store_explicit(&flag[me], 0, memory_order_release);
}
static void *run(void *number) {
    int me = (int)(long)number;
    enter(me);
    inside++;
    assert(inside == 1);
    inside--;
    leave(me);
    return 0;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, run, (void *)1);
    run(0);
    pthread_join(other, 0);
    return 0;
}
