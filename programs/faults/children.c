// A daemon that waits until its two children have ended, and counts them in a handler of SIGCHLD.
// Two that end close together send one signal: it waits for ever. -DALL takes all that have ended.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t left = 2;

static void reap(int signal) {
    (void)signal;
#ifdef ALL
    while (waitpid(-1, 0, WNOHANG) > 0) left--;
#else
    if (waitpid(-1, 0, WNOHANG) > 0) left--;
#endif
}

int main(void) {
    struct sigaction action = {.sa_handler = reap};
    sigset_t blocked, before;
    sigaction(SIGCHLD, &action, 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    for (int child = 0; child < 2; child++)
        if (fork() == 0) _exit(0);
    while (left > 0) sigsuspend(&before);
    return 0;
}
