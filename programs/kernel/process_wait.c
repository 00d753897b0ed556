// Statuses and options of wait4(2) and waitid(2).
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static pid_t child_exit(int code) {
    pid_t pid = fork();
    if (pid == 0) _exit(code);
    return pid;
}

static pid_t child_signal(int signal) {
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        raise(signal);
        _exit(0);
    }
    return pid;
}

static pid_t child_pause(void) {
    pid_t pid = fork();
    if (pid == 0) for (;;) pause();
    return pid;
}

int main(void) {
    int status;
    pid_t pid;
    show("no children", waitpid(-1, &status, 0));
    show("no children, WNOHANG", waitpid(-1, &status, WNOHANG));
    show("bad options", waitpid(-1, &status, 0x100));
    show("own pid", waitpid(getpid(), &status, 0));

    int codes[] = {0, 1, 255, 256 + 7, -1};
    for (int i = 0; i < 5; i++) {
        pid = child_exit(codes[i]);
        show("reaped the one", waitpid(pid, &status, 0) == pid);
        printf("exit %d: %#x exited %d code %d\n", codes[i], status, WIFEXITED(status), WEXITSTATUS(status));
    }
    int signals[] = {SIGTERM, SIGKILL, SIGSEGV, SIGUSR1, SIGPIPE, SIGALRM, SIGRTMIN + 1};
    for (int i = 0; i < 7; i++) {
        pid = child_signal(signals[i]);
        waitpid(pid, &status, 0);
        printf("signal %d: %#x signaled %d\n", signals[i], status, WTERMSIG(status));
    }
    pid = child_signal(SIGCHLD);
    waitpid(pid, &status, 0);
    printf("ignored by default: %#x\n", status);

    pid = child_pause();
    show("WNOHANG while it runs", waitpid(pid, &status, WNOHANG));
    kill(pid, SIGSTOP);
    show("WUNTRACED", waitpid(pid, &status, WUNTRACED) == pid);
    printf("stopped: %#x %d\n", status, WSTOPSIG(status));
    show("told once only", waitpid(pid, &status, WUNTRACED | WNOHANG));
    kill(pid, SIGCONT);
    show("WCONTINUED", waitpid(pid, &status, WCONTINUED) == pid);
    printf("continued: %#x %d\n", status, WIFCONTINUED(status));
    show("told once only", waitpid(pid, &status, WCONTINUED | WNOHANG));
    kill(pid, SIGSTOP);
    waitpid(pid, &status, WUNTRACED);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    printf("killed while stopped: %#x\n", status);

    siginfo_t info;
    pid = child_exit(42);
    memset(&info, 0xff, sizeof info);
    show("waitid WNOWAIT", waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
    printf("info: %d %d %d %d\n", info.si_signo, info.si_code, info.si_status, info.si_pid == pid);
    show("waitid again", waitid(P_ALL, 0, &info, WEXITED));
    printf("info: %d %d %d %d\n", info.si_signo, info.si_code, info.si_status, info.si_pid == pid);
    show("waitid none left", waitid(P_ALL, 0, &info, WEXITED));
    show("waitid no options", waitid(P_ALL, 0, &info, 0));
    show("waitid bad kind", waitid(17, 0, &info, WEXITED));
    pid = child_pause();
    memset(&info, 0xff, sizeof info);
    show("waitid WNOHANG", waitid(P_PID, pid, &info, WEXITED | WNOHANG));
    printf("info: %d %d\n", info.si_signo, info.si_pid);
    kill(pid, SIGTSTP);
    show("waitid WSTOPPED", waitid(P_PID, pid, &info, WSTOPPED));
    printf("info: %d %d %d\n", info.si_signo, info.si_code, info.si_status);
    kill(pid, SIGCONT);
    show("waitid WCONTINUED", waitid(P_PID, pid, &info, WCONTINUED));
    printf("info: %d %d %d\n", info.si_signo, info.si_code, info.si_status);
    kill(pid, SIGTERM);
    show("waitid killed", waitid(P_PID, pid, &info, WEXITED));
    printf("info: %d %d %d\n", info.si_signo, info.si_code, info.si_status);

    // Groups: only members of the group are reported.
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        _exit(3);
    }
    setpgid(pid, pid);
    pid_t other = child_exit(4);
    show("by group", waitpid(-pid, &status, 0) == pid);
    show("other group", waitpid(0, &status, 0) == other);
    printf("code %d\n", WEXITSTATUS(status));

    // Nobody asks: no zombies.
    signal(SIGCHLD, SIG_IGN);
    child_exit(1);
    child_exit(2);
    show("SIG_IGN waits for all, then fails", waitpid(-1, &status, 0));
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGCHLD, &action, NULL);
    child_exit(1);
    show("SA_NOCLDWAIT", waitpid(-1, &status, 0));
    return 0;
}
