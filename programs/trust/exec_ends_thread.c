// expect: assert
// A thread whose pending step fails is ended by execve(2) of another.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
void *f(void *a) { assert(0); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); execl("/bin/true", "true", (char *)0); return 9; }
