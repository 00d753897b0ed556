// Floating point in vectors and scalars: rows of a matrix, and square roots.
#include "measure.h"
#include <emmintrin.h>
#include <string.h>

enum { SIDE = 64 };
static double a[SIDE][SIDE] __attribute__((aligned(16))), b[SIDE][SIDE] __attribute__((aligned(16)));

static uint64_t work(uint64_t rounds) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) a[i][j] = 1.0 / (1 + i + j), b[i][j] = i == j;
    double trace = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        int i = round % SIDE;
        for (int k = 0; k < SIDE; k++) {
            __m128d scale = _mm_set1_pd(a[i][k]);
            for (int j = 0; j < SIDE; j += 2)
                _mm_store_pd(&b[i][j], _mm_add_pd(_mm_load_pd(&b[i][j]), _mm_mul_pd(scale, _mm_load_pd(&a[k][j]))));
        }
        __m128d root = _mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(b[i][i] * b[i][i] + 1));
        trace = trace * 0.5 + _mm_cvtsd_f64(root);
    }
    uint64_t bits;
    memcpy(&bits, &trace, sizeof bits);
    return bits;
}
