// expect: crash
// Who ignores SIGCHLD leaves no zombies.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    signal(SIGCHLD, SIG_IGN);
    if (fork() == 0) *(volatile int *)0 = 1;
    wait(0);
    return 0;
}
