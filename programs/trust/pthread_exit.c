// expect: holds
// pthread_exit(3) loads a library under locks of the loader.
#include <pthread.h>
void *f(void *arg) { pthread_exit(0); }
int main(void) {
    pthread_t t[2]; int i;
    for (i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0);
    for (i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
