// Branches that depend on data, indirect jumps, calls: a small interpreter runs a program that changes.
#include "measure.h"

__attribute__((noinline)) static uint32_t mix(uint32_t x) { return x * 2654435761u ^ x >> 15; }

static uint64_t work(uint64_t rounds) {
    uint8_t program[256];
    for (int i = 0; i < 256; i++) program[i] = mix(i) >> 24;
    uint64_t a = 1, b = 2, sum = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        for (uint8_t at = 0, steps = 0; steps < 250; steps++, at++) {
            switch (program[at] & 7) {
            case 0: a += b; break;
            case 1: b ^= a << 3; break;
            case 2: if (a & 16) at += 3; break;
            case 3: a = mix(a); break;
            case 4: b -= a; break;
            case 5: if (b > a) { uint64_t c = a; a = b; b = c; } break;
            case 6: sum += a & b; break;
            default: program[(uint8_t)b] += 1;
            }
        }
    }
    return sum ^ a ^ b;
}
