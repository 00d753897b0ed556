// expect: assert
// A thread that a constructor has made meets main.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static pthread_t t;
static void *look(void *p) { assert(atomic_load(&x) == 0); return p; }
__attribute__((constructor)) static void early(void) { pthread_create(&t, 0, look, 0); }
int main(void) { atomic_store(&x, 1); pthread_join(t, 0); return 0; }
