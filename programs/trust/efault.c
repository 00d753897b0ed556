// expect: exit
// A call that the kernel refuses because of a page depends on the mapping of that page.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static char *page; static int p[2];
static void *f(void *a) { mprotect(page, 4096, PROT_NONE); return 0; }
int main(void) { pthread_t t; long r; page = mmap(0, 4096, 3, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0); (void)!pipe(p);
  pthread_create(&t, 0, f, 0); r = write(p[1], page, 4); pthread_join(t, 0); return r == 4 ? 0 : 5; }
