// expect: assert
// Who finds a lock held may go on before the holder does what the lock is for.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, has_failed;

static void *counts(void *unused) {
    pthread_mutex_lock(&lock);
    count = count + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *tries(void *unused) {
    if (pthread_mutex_trylock(&lock)) {
        has_failed = 1;
        count = 3;
    } else {
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, counts, 0);
    pthread_create(&b, 0, tries, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!has_failed || count != 4);
}
