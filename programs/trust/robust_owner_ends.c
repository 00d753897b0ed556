// expect: holds
// The owner of a robust mutex ends; whoever waits is woken.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m;
static void *f(void *x) { pthread_mutex_lock(&m); return 0; }
int main(void) {
    pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &a);
    pthread_t t; pthread_create(&t, 0, f, 0);
    int r = pthread_mutex_lock(&m);
    if (r == EOWNERDEAD) pthread_mutex_consistent(&m);
    pthread_mutex_unlock(&m); pthread_join(t, 0); return 0;
}
