// expect: assert
// MADV_DONTNEED empties a page between two loads.
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
static volatile int *p;
static void *f(void *a) { int one = p[0], two = p[1]; assert(one == two); return 0; }
int main(void) {
    p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p[0] = p[1] = 1;
    pthread_t t; pthread_create(&t, 0, f, 0);
    madvise((void *)p, 4096, MADV_DONTNEED);
    pthread_join(t, 0); return 0;
}
