// Arithmetic in registers: a hash over a counter.
#include "measure.h"

static uint64_t work(uint64_t rounds) {
    uint64_t hash = 14695981039346656037ull;
    for (uint64_t i = 0; i < rounds * 10000; i++) {
        hash ^= i & 0xff;
        hash *= 1099511628211ull;
        hash += hash << 13 ^ i;
        hash ^= hash >> 7;
    }
    return hash;
}
