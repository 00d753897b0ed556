// Two transfers take the locks of two accounts in opposite order.
#include <pthread.h>

static struct account {
    pthread_mutex_t lock;
    int balance;
} a = {PTHREAD_MUTEX_INITIALIZER, 10}, b = {PTHREAD_MUTEX_INITIALIZER, 10};

static void transfer(struct account *from, struct account *to) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance--;
    to->balance++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *other(void *unused) {
    transfer(&b, &a);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    transfer(&a, &b);
    pthread_join(thread, 0);
    return 0;
}
