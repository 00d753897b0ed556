/* The deque of Chase and Lev: its owner takes at the bottom, a thief steals at the top. Between its store to `bottom` and its
   load of `top` the owner needs a fence (-DFENCE): without it both may take the last element but one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define EMPTY 0
static atomic_long top, bottom;
static atomic_int items[4];
static int taken[4];
static void push(int item) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&items[b], item, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
}
static int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
    long t = atomic_load_explicit(&top, memory_order_acquire);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return EMPTY;
    }
    int item = atomic_load_explicit(&items[b], memory_order_relaxed);
    if (t < b) return item;
    if (!atomic_compare_exchange_strong(&top, &t, t + 1)) item = EMPTY;
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    return item;
}
static int steal(void) {
    long t = atomic_load_explicit(&top, memory_order_acquire);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b) return EMPTY;
    int item = atomic_load_explicit(&items[t], memory_order_relaxed);
    return atomic_compare_exchange_strong(&top, &t, t + 1) ? item : EMPTY;
}
static void *thief(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        int item = steal();
        if (item) taken[item] += 2;
    }
    return 0;
}
int main(void) {
    pthread_t thread;
    push(1), push(2);
    pthread_create(&thread, 0, thief, 0);
    int own[2] = { take(), take() };
    pthread_join(thread, 0);
    for (int i = 0; i < 2; i++) if (own[i]) taken[own[i]] += 1;
    assert(taken[1] == 1 || taken[1] == 2);
    assert(taken[2] == 1 || taken[2] == 2);
    return 0;
}
