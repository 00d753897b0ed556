// expect: assert exit
// The thread that was just made may come before the assertion behind it.
#include <assert.h>
#include <pthread.h>
static volatile unsigned w;
static void *f(void *p) { w = 1; return p; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    assert(w);
    pthread_join(t, 0);
    return 5;
}
