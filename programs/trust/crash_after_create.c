// expect: crash exit
// The thread that was just made may come before the crash behind it.
#include <pthread.h>
static volatile unsigned w;
static int *volatile nothing;
static void *f(void *p) { w = 1; return p; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    if (!w) *nothing = 1;
    pthread_join(t, 0);
    return 5;
}
