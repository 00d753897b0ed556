// expect: assert
// fwrite(3) copies two words that another thread writes one after the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int a[2];
static void *f(void *x) { a[0]++; a[1]++; return 0; }
int main(void) {
    char buffer[64]; int got[2];
    FILE *file = fmemopen(buffer, sizeof buffer, "w");
    setvbuf(file, 0, _IONBF, 0);
    pthread_t t; pthread_create(&t, 0, f, 0);
    fwrite(a, 4, 2, file); fflush(file);
    __builtin_memcpy(got, buffer, 8);
    assert(!(got[0] == 1 && got[1] == 0));
    pthread_join(t, 0); return 0;
}
