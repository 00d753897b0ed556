// expect: holds
// exit(3) of the thread ends main inside pthread_join(3): nothing behind the join is executed.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
void *f(void *a) { exit(0); }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(0); }
