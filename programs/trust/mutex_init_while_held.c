// expect: assert misuse
// T2 initialises a mutex that T1 holds, and gets it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static atomic_int x;
static void *f(void *z) { pthread_mutex_lock(&m); x = 1; x = 0; pthread_mutex_unlock(&m); return 0; }
static void *g(void *z) {
    pthread_mutex_init(&m, 0);
    pthread_mutex_lock(&m); int v = x; pthread_mutex_unlock(&m);
    assert(v == 0); return 0;
}
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0); pthread_join(u, 0); return 0; }
