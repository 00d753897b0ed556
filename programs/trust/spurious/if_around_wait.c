// expect: assert
// `if` instead of `while` around pthread_cond_wait(3): POSIX lets it return although nobody signalled (--wakes spurious).
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int ready;
static void *f(void *a) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, f, 0);
    pthread_mutex_lock(&m); if (!ready) pthread_cond_wait(&c, &m); assert(ready); pthread_mutex_unlock(&m);
    pthread_join(t, 0); return 0;
}
