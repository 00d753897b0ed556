// expect: holds
// A step that is taken back has waited for a signal.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void h(int s) {}
int main(void) { signal(SIGUSR1, h); sigset_t s, o; sigemptyset(&s); sigaddset(&s, SIGUSR1); sigprocmask(SIG_BLOCK, &s, &o);
 pid_t p = getpid(), c = fork(); if (!c) { kill(p, SIGUSR1); _exit(0); }
 sigsuspend(&o); waitpid(c, 0, 0); return 0; }
