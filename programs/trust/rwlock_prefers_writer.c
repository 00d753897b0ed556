// expect: deadlock
// A waiting writer keeps a second read lock of the reader out.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static pthread_rwlock_t l;
static void *w(void *y) { pthread_rwlock_wrlock(&l); pthread_rwlock_unlock(&l); return 0; }
int main(void) {
    pthread_rwlockattr_t a; pthread_rwlockattr_init(&a);
    pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&l, &a); pthread_t t;
    pthread_rwlock_rdlock(&l); pthread_create(&t, 0, w, 0);
#ifdef SLEEP
    sleep(1);
#endif
    pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l);
    pthread_join(t, 0); return 0;
}
