// expect: assert
// sem_getvalue(3) reads what sem_post(3) writes.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static void *f(void *a) { sem_post(&s); return 0; }
int main(void) {
    sem_init(&s, 0, 0);
    pthread_t t; pthread_create(&t, 0, f, 0);
    int v; sem_getvalue(&s, &v); assert(v == 0);
    pthread_join(t, 0); return 0;
}
