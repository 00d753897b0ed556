// expect: assert
// A failing step that is only tried counts: ten writers, one reader of an invariant in two stages.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef N
#define N 3
#endif
static atomic_int a, b;
static void *w(void *x) { a++; b++; return 0; }
static void *r(void *x) { int v = b, u = a; assert(!(u == N && v == 0)); return 0; }
int main(void) {
    pthread_t t[N], q;
    for (int i = 0; i < N; i++) pthread_create(t + i, 0, w, 0);
    pthread_create(&q, 0, r, 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    pthread_join(q, 0); return 0;
}
