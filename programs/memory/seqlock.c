/* A seqlock: readers try again if the count was odd, or has changed. Right on x86, which keeps stores in order and loads, too.
   -DBROKEN: the writer makes the count even again too early. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint count;
static atomic_int one, two;
static void *writer(void *unused) {
    (void)unused;
    for (int value = 1; value <= 2; value++) {
        unsigned now = atomic_load_explicit(&count, memory_order_relaxed);
        atomic_store_explicit(&count, now + 1, memory_order_release);
        atomic_store_explicit(&one, value, memory_order_release);
#ifdef BROKEN
        atomic_store_explicit(&count, now + 2, memory_order_release);
        atomic_store_explicit(&two, value, memory_order_release);
#else
        atomic_store_explicit(&two, value, memory_order_release);
        atomic_store_explicit(&count, now + 2, memory_order_release);
#endif
    }
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    unsigned before = atomic_load_explicit(&count, memory_order_acquire);
    int a = atomic_load_explicit(&one, memory_order_acquire), b = atomic_load_explicit(&two, memory_order_acquire);
    unsigned behind = atomic_load_explicit(&count, memory_order_acquire);
    if (before % 2 == 0 && before == behind) assert(a == b);
    pthread_join(thread, 0);
    return 0;
}
