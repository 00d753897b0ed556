// expect: assert misuse
// expect with --libc real: assert deadlock
// T2 zeroes a mutex that T1 holds, and T3 gets it. The library wakes nobody if T3 was asleep by then.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static atomic_int x;
static void *f(void *z) { pthread_mutex_lock(&m); x = 1; x = 0; pthread_mutex_unlock(&m); return 0; }
static void *g(void *z) { pthread_mutex_lock(&m); assert(x == 0); pthread_mutex_unlock(&m); return 0; }
int main(void) {
    pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);
    memset(&m, 0, sizeof m);
    pthread_join(t, 0); pthread_join(u, 0); return 0;
}
