// Workloads for the benchmark, one per value of WORK; no libc. Ends with exit(checksum & 127).
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

#if WORK == 1 // integer: registers only
static u64 work(void) {
    u64 x = 88172645463325252, sum = 0;
    for (u64 i = 0; i < 8000000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        sum += x & 0xff;
    }
    return sum;
}
#elif WORK == 2 // memory: sieve of Eratosthenes
static u8 sieve[1 << 20];
static u64 work(void) {
    u64 count = 0;
    for (int round = 0; round < 6; round++) {
        for (u64 i = 0; i < sizeof sieve; i++) sieve[i] = 1;
        for (u64 i = 2; i < sizeof sieve; i++) {
            if (!sieve[i]) continue;
            count++;
            for (u64 j = i * i; j < sizeof sieve; j += i) sieve[j] = 0;
        }
    }
    return count;
}
#elif WORK == 3 // SSE: copies of 64 KiB
#include <emmintrin.h>
static u8 from[1 << 16], to[1 << 16];
static u64 work(void) {
    u64 sum = 0;
    for (int round = 0; round < 1500; round++) {
        from[round] = round;
        for (u64 i = 0; i < sizeof from; i += 64) {
            __m128i a = _mm_loadu_si128((void *)(from + i)), b = _mm_loadu_si128((void *)(from + i + 16));
            __m128i c = _mm_loadu_si128((void *)(from + i + 32)), d = _mm_loadu_si128((void *)(from + i + 48));
            _mm_storeu_si128((void *)(to + i), a), _mm_storeu_si128((void *)(to + i + 16), b);
            _mm_storeu_si128((void *)(to + i + 32), c), _mm_storeu_si128((void *)(to + i + 48), d);
        }
        sum += to[round];
    }
    return sum;
}
#elif WORK == 4 // branches: quicksort with a comparison function
static u32 data[40000];
static int less(const u32 *a, const u32 *b) { return *a < *b; }
static int (*volatile compare)(const u32 *, const u32 *) = less;
static void sort(long low, long high) {
    while (low < high) {
        u32 pivot = data[(low + high) / 2];
        long i = low, j = high;
        while (i <= j) {
            while (compare(&data[i], &pivot)) i++;
            while (compare(&pivot, &data[j])) j--;
            if (i <= j) {
                u32 t = data[i];
                data[i++] = data[j], data[j--] = t;
            }
        }
        sort(low, j);
        low = i;
    }
}
static u64 work(void) {
    u64 sum = 0;
    for (int round = 0; round < 8; round++) {
        u32 x = 12345 + round;
        for (int i = 0; i < 40000; i++) data[i] = x = x * 1664525 + 1013904223;
        sort(0, 39999);
        sum += data[20000];
    }
    return sum;
}
#elif WORK == 5 // mixed: a hash with rotations, like SHA-256
static u32 k[64], w[64];
static u32 ror(u32 x, int n) { return x >> n | x << (32 - n); }
static u64 work(void) {
    u32 h[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 64; i++) k[i] = i * 2654435761u;
    for (int block = 0; block < 12000; block++) {
        for (int i = 0; i < 16; i++) w[i] = block * 31 + i;
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + w[i - 7] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) + (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
        u32 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], x = h[7];
        for (int i = 0; i < 64; i++) {
            u32 t = x + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
            u32 s = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            x = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + s;
        }
        h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += x;
    }
    return h[0];
}
#else // floating point: a scalar recurrence
static u64 work(void) {
    double x = 0.5, sum = 0;
    for (u64 i = 0; i < 3000000; i++) {
        x = 3.7 * x * (1.0 - x);
        sum += x;
    }
    return (u64)sum;
}
#endif

void _start(void) {
    u64 status = work() & 127;
    __asm__ volatile("syscall" : : "a"(60L), "D"(status));
    __builtin_unreachable();
}
