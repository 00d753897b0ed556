/* Many races on many variables, each in functions of its own: a long report, with every race shown again. */
#include <pthread.h>
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define DECLARE(n) static int v##n; static void add##n(int by) { v##n += by; }
EACH(DECLARE)
#define ADD(n) add##n(by);
static void *work(void *p) { int by = (int)(long)p; for (int i = 0; i < 2; i++) { EACH(ADD) } return 0; }
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(t + i, 0, work, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
