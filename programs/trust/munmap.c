// expect: crash
// T reads the pointer, main unmaps, T follows the pointer.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
static volatile char *_Atomic p;
static void *f(void *a) { volatile char *q = p; if (q) *q = 1; return 0; }
int main(void) {
    p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t; pthread_create(&t, 0, f, 0);
    char *q = (char *)p; p = 0; munmap(q, 4096);
    pthread_join(t, 0); return 0;
}
