// expect: livelock
// A loop that nothing can end is no deadlock: somebody moves.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *f(void *a) { while (!flag) ; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }
