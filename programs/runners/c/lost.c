// Two threads count without a lock: `lost one` always counts right, `lost both` only if they do not meet.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int counter;

static void *add(void *unused) {
    int seen = __atomic_load_n(&counter, __ATOMIC_SEQ_CST);
    __atomic_store_n(&counter, seen + 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(int count, char **words) {
    pthread_t threads[2];
    int many = count > 1 && !strcmp(words[1], "both") ? 2 : 1;
    for (int i = 0; i < many; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < many; i++) pthread_join(threads[i], 0);
    return counter != many;
}
