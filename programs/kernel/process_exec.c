// execve(2): what is kept, what is lost, what fails.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;

static void show(const char *name, long result) {
    printf("%s: %ld %s\n", name, result, result == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static int run(char *const arguments[], char *const environment[]) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execve(self, arguments, environment);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static void handler(int signal) { (void)signal; }

static void *executes(void *argument) {
    execve(self, (char *[]){self, "pid", argument, NULL}, environ);
    return NULL;
}

static int second_life(int count, char **arguments) {
    if (strcmp(arguments[1], "arguments") == 0) {
        printf("argc %d last %s environment %s\n", count, arguments[count - 1], getenv("COLOUR"));
    } else if (strcmp(arguments[1], "pid") == 0) {
        printf("same pid %d, is leader %d\n", atoi(arguments[2]) == getpid(), getpid() == syscall(SYS_gettid));
    } else {
        struct sigaction action;
        sigaction(SIGUSR1, NULL, &action);
        show("handler is gone", action.sa_handler == SIG_DFL);
        sigaction(SIGUSR2, NULL, &action);
        show("ignored stays", action.sa_handler == SIG_IGN);
        sigset_t set;
        sigprocmask(SIG_SETMASK, NULL, &set);
        show("mask stays", sigismember(&set, SIGHUP));
        sigpending(&set);
        show("pending stays", sigismember(&set, SIGHUP));
        show("close-on-exec", fcntl(10, F_GETFD));
        show("kept", fcntl(11, F_GETFD));
        stack_t stack;
        sigaltstack(NULL, &stack);
        show("no alternate stack", stack.ss_flags == SS_DISABLE);
        show("alarm stays", alarm(0) > 0);
        show("umask stays", umask(0));
    }
    fflush(stdout);
    return 5;
}

int main(int count, char **arguments) {
    if (count > 1) return second_life(count, arguments);
    self = "/proc/self/exe";
    int status = run((char *[]){self, "arguments", "", "two words", NULL}, (char *[]){"COLOUR=blue", NULL});
    show("status", WEXITSTATUS(status));

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGUSR1, handler);
        signal(SIGUSR2, SIG_IGN);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGHUP);
        sigprocmask(SIG_BLOCK, &set, NULL);
        raise(SIGHUP);
        int fd = open("/dev/null", O_RDONLY);
        dup3(fd, 10, O_CLOEXEC);
        dup2(fd, 11);
        stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
        sigaltstack(&stack, NULL);
        alarm(100);
        umask(027);
        execve(self, (char *[]){self, "state", NULL}, environ);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    show("status", WEXITSTATUS(status));

    pid = fork();
    if (pid == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", getpid());
        pthread_t thread;
        pthread_create(&thread, NULL, executes, number);
        for (;;) pause();
    }
    waitpid(pid, &status, 0);
    show("executed by a thread", WEXITSTATUS(status));

    show("no such file", execve("/no/such/file", (char *[]){"x", NULL}, environ));
    show("a directory", execve("/", (char *[]){"x", NULL}, environ));
    show("not a directory", execve("/dev/null/x", (char *[]){"x", NULL}, environ));
    show("a device", execve("/dev/null", (char *[]){"x", NULL}, environ));
    show("bad path", execve((char *)8, (char *[]){"x", NULL}, environ));
    show("empty path", execve("", (char *[]){"x", NULL}, environ));
    char directory[] = "/tmp/allways-exec-XXXXXX";
    mkdtemp(directory);
    chdir(directory);
    int fd = open("plain", O_CREAT | O_WRONLY, 0644);
    write(fd, "#!/bin/sh\n", 10);
    close(fd);
    show("no permission", execve("plain", (char *[]){"x", NULL}, environ));
    fd = open("text", O_CREAT | O_WRONLY, 0755);
    write(fd, "no program at all\n", 18);
    close(fd);
    show("no format", execve("text", (char *[]){"x", NULL}, environ));
    fd = open("lost", O_CREAT | O_WRONLY, 0755);
    write(fd, "#!/no/such/interpreter\n", 23);
    close(fd);
    show("no interpreter", execve("lost", (char *[]){"x", NULL}, environ));
    symlink("text", "link");
    int here = open(".", O_RDONLY);
    show("execveat no-follow", syscall(SYS_execveat, here, "link", (char *[]){"x", NULL}, environ, AT_SYMLINK_NOFOLLOW));
    show("execveat bad flags", syscall(SYS_execveat, here, "text", (char *[]){"x", NULL}, environ, 1));
    show("execveat bad fd", syscall(SYS_execveat, 99, "text", (char *[]){"x", NULL}, environ, 0));
    unlink("plain");
    unlink("text");
    unlink("lost");
    unlink("link");
    chdir("/");
    rmdir(directory);
    return 0;
}
