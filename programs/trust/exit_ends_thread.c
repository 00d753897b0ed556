// expect: assert
// A thread whose pending step fails is ended when main returns.
#include <pthread.h>
#include <assert.h>
void *f(void *a) { assert(0); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }
