// expect: assert exit
// An assertion right behind an operation fails in a step of its own: others may come between.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int a[2];
void *f(void *p) { atomic_store(&a[1], 2); return p; }
void *g(void *p) { return p; }
int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);
 assert(atomic_load(&a[1]));
 pthread_join(s, 0); pthread_join(t, 0); return 22; }
