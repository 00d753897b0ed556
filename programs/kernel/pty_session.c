// Controlling terminals, signals from keys, job control.
#include "netcheck.h"
#include <pty.h>
#include <termios.h>

static volatile sig_atomic_t last;
static void note(int number) { last = number; }

// Exactly so many bytes, however they come.
static void show_bytes(const char *name, int fd, int least) {
    char buffer[4096];
    int count = 0;
    while (count < least) {
        struct pollfd entry = {fd, POLLIN, 0};
        if (poll(&entry, 1, 2000) <= 0) break;
        long got = read(fd, buffer + count, least - count);
        if (got <= 0) break;
        count += got;
    }
    printf("%s: '", name);
    for (int i = 0; i < count; i++)
        if (buffer[i] >= ' ' && buffer[i] < 127) putchar(buffer[i]);
        else printf("\\%03o", (unsigned char)buffer[i]);
    printf("'\n");
    fflush(stdout);
}

static void say(const char *text) { write(1, text, strlen(text)); }

// A session leader that tells which signals come.
static void leader(void) {
    int numbers[] = {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGHUP};
    for (int i = 0; i < 5; i++) signal(numbers[i], note);
    sigset_t all, none;
    sigfillset(&all), sigemptyset(&none);
    sigprocmask(SIG_BLOCK, &all, NULL);
    char text[64];
    sprintf(text, "ready %d %d\n", tcgetsid(0) == getpid(), tcgetpgrp(0) == getpgrp());
    say(text);
    for (;;) {
        sigsuspend(&none);
        sprintf(text, "signal %s\n", sigabbrev_np(last));
        say(text);
        if (last == SIGHUP) _exit(3);
    }
}

// A leader with a job in the background.
static void shell(void) {
    char text[64], byte;
    signal(SIGTTOU, SIG_IGN);
    int fd = open("/dev/tty", O_RDWR);
    sprintf(text, "tty %d\n", fd >= 0);
    say(text);
    pid_t job = fork();
    if (job == 0) {
        setpgid(0, 0);
        signal(SIGTTOU, SIG_DFL);
        long count = read(0, &byte, 1);
        _exit(count == 1 ? byte : 99);
    }
    setpgid(job, job);
    int status;
    waitpid(job, &status, WUNTRACED);
    sprintf(text, "stopped %d %s\n", WIFSTOPPED(status), sigabbrev_np(WSTOPSIG(status)));
    say(text);
    tcsetpgrp(0, job);
    kill(-job, SIGCONT);
    waitpid(job, &status, WUNTRACED);
    tcsetpgrp(0, getpgrp());
    sprintf(text, "exited %d %c\n", WIFEXITED(status), WEXITSTATUS(status));
    say(text);
    job = fork();
    if (job == 0) {
        setpgid(0, 0);
        struct termios modes;
        tcgetattr(0, &modes);
        modes.c_lflag |= TOSTOP;
        signal(SIGTTOU, SIG_DFL);
        tcsetattr(0, TCSANOW, &modes);
        _exit(7);
    }
    setpgid(job, job);
    waitpid(job, &status, WUNTRACED);
    sprintf(text, "stopped %d %s\n", WIFSTOPPED(status), sigabbrev_np(WSTOPSIG(status)));
    say(text);
    kill(-job, SIGKILL);
    waitpid(job, &status, 0);
    sprintf(text, "foreign %d\n", tcsetpgrp(0, 1) == -1 ? errno == EPERM || errno == ESRCH : 0);
    say(text);
    _exit(5);
}

int main(void) {
    int master, status;
    pid_t child = forkpty(&master, NULL, NULL, NULL);
    if (child == 0) leader();
    show_bytes("leader", master, 11);
    write(master, "\003", 1);
    show_bytes("interrupt key", master, 14);
    write(master, "\034", 1);
    show_bytes("quit key", master, 15);
    write(master, "\032", 1);
    show_bytes("suspend key", master, 15);
    struct winsize size = {30, 100, 0, 0};
    ioctl(master, TIOCSWINSZ, &size);
    show_bytes("new size", master, 14);
    ioctl(master, TIOCSWINSZ, &size);
    pid_t group = -1;
    show("foreground from the master", (ioctl(master, TIOCGPGRP, &group), group == child));
    close(master);
    waitpid(child, &status, 0);
    show("hung up", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));

    child = forkpty(&master, NULL, NULL, NULL);
    if (child == 0) shell();
    show_bytes("shell", master, 7);
    show_bytes("job reads", master, 16);
    write(master, "Q\n", 2);
    show_bytes("job goes on", master, 15);
    show_bytes("job changes modes", master, 16);
    show_bytes("foreign group", master, 11);
    waitpid(child, &status, 0);
    show("shell ended", WEXITSTATUS(status));
    return 0;
}
