/* A node is made and then published, as RCU does: right on x86, where stores stay in order. -DBROKEN: published before it is made. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { atomic_int value, check; };
static _Atomic(struct node *) published;
static void *reader(void *unused) {
    struct node *node = atomic_load_explicit(&published, memory_order_acquire);
    if (node) {
        int value = atomic_load_explicit(&node->value, memory_order_relaxed);
        assert(value != 0 && atomic_load_explicit(&node->check, memory_order_relaxed) == -value);
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, reader, 0);
    struct node *node = calloc(1, sizeof *node);
#ifdef BROKEN
    atomic_store_explicit(&published, node, memory_order_release);
#endif
    atomic_store_explicit(&node->value, 7, memory_order_relaxed);
    atomic_store_explicit(&node->check, -7, memory_order_relaxed);
#ifndef BROKEN
    atomic_store_explicit(&published, node, memory_order_release);
#endif
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
