// expect: assert
// movsq loads one racing word and stores another: others act in between.
#include <assert.h>
#include <pthread.h>
static volatile long a, b;
static void *f(void *x) { a = 1; assert(b != 2); return 0; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, f, 0);
    b = 2;
    void *from = (void *)&a, *to = (void *)&b;
    __asm__ volatile("movsq" : "+S"(from), "+D"(to) : : "memory");
    pthread_join(t, 0); return b == 1 || b == 0 ? 0 : 0;
}
