// expect: assert
// A load of 16 bytes is two loads of 8: only those are atomic.
#include <assert.h>
#include <emmintrin.h>
#include <pthread.h>
static volatile long a[2] __attribute__((aligned(16)));
static void *f(void *x) { a[0] = 1; a[1] = 1; return 0; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, f, 0);
    __m128i v; __asm__ volatile("movdqa %1, %0" : "=x"(v) : "m"(*(__m128i *)a) : "memory");
    long one = _mm_cvtsi128_si64(v), two = _mm_cvtsi128_si64(_mm_srli_si128(v, 8));
    assert(!(one == 0 && two == 1));
    pthread_join(t, 0); return 0;
}
