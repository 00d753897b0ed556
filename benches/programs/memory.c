// Loads and stores: a sieve, then a walk along a chain of pointers through two megabytes.
#include "measure.h"

enum { CELLS = 1 << 18 };
static uint32_t next[CELLS];
static uint8_t composite[CELLS];

static uint64_t work(uint64_t rounds) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < CELLS; i++) next[i] = (i * 40503u + 1) % CELLS;
    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t step = 2 + round % 97;
        for (uint32_t i = step; i < CELLS; i += step) composite[i] ^= 1;
        uint32_t at = round % CELLS;
        for (int i = 0; i < 5000; i++) {
            at = next[at];
            sum += at + composite[at];
        }
    }
    return sum;
}
