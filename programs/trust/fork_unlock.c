// expect: holds
// After fork(2) the child gives back what its parent held, as handlers of pthread_atfork(3) do.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *x) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, f, 0);
    pthread_mutex_lock(&m); pid_t c = fork(); pthread_mutex_unlock(&m);   /* as pthread_atfork handlers do */
    if (!c) _exit(0);
    waitpid(c, 0, 0); pthread_join(t, 0); return 0;
}
