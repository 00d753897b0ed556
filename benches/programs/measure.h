// Every workload: ./name ROUNDS prints a checksum, and on stderr the nanoseconds it took by its own clock. Inside a world
// one instruction takes one virtual nanosecond, so that there it prints how many instructions it executed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t work(uint64_t rounds);

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

int main(int count, char **words) {
    uint64_t rounds = count > 1 ? strtoull(words[1], NULL, 10) : 1;
    uint64_t start = now(), sum = work(rounds), end = now();
    printf("%016llx\n", (unsigned long long)sum);
    fprintf(stderr, "%llu\n", (unsigned long long)(end - start));
}
