// expect: crash
// A store before another thread allows it.
#include <pthread.h>
#include <sys/mman.h>
static char *p;
static void *f(void *a) { mprotect(p, 4096, PROT_READ | PROT_WRITE); return 0; }
int main(void) {
    p = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t; pthread_create(&t, 0, f, 0);
    *(volatile char *)p = 1;
    pthread_join(t, 0); return 0;
}
