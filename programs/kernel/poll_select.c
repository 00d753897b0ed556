// poll, ppoll, select and pselect.
#include "netcheck.h"

static volatile sig_atomic_t caught;
static void count(int number) { caught++; }

static void *later(void *fd) {
    usleep(3000);
    write(*(int *)fd, "x", 1);
    return NULL;
}

int main(void) {
    int pair[2], ends[2];
    char buffer[16];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pipe(ends);
    struct pollfd entries[4] = {{pair[0], POLLIN, 0}, {ends[0], POLLIN, 0}, {-1, POLLIN, 9}, {99, POLLIN, 0}};
    show("poll", poll(entries, 4, 0));
    printf("returned: %s", text_of(entries[0].revents));
    printf(" %s", text_of(entries[1].revents)), printf(" %s", text_of(entries[2].revents));
    printf(" %s\n", text_of(entries[3].revents));
    show("poll none", poll(NULL, 0, 1));
    show("poll bad address", poll((void *)8, 1, 0));
    write(pair[1], "x", 1);
    show("poll ready", poll(entries, 3, -1));
    printf("returned: %s", text_of(entries[0].revents)), printf(" %s\n", text_of(entries[1].revents));
    show_poll("empty pipe, reader", ends[0]);
    show_poll("empty pipe, writer", ends[1]);
    close(ends[1]);
    show_poll("pipe without writer", ends[0]);
    pipe(ends);
    close(ends[0]);
    show_poll("pipe without reader", ends[1]);
    int file = open("/tmp", O_RDONLY);
    show_poll("directory", file);

    fd_set in, out, special;
    FD_ZERO(&in); FD_ZERO(&out); FD_ZERO(&special);
    FD_SET(pair[0], &in), FD_SET(pair[1], &in), FD_SET(pair[0], &out), FD_SET(pair[0], &special);
    struct timeval now = {0, 0};
    show("select", select(pair[1] + 1, &in, &out, &special, &now));
    show("readable", FD_ISSET(pair[0], &in) != 0);
    show("not readable", FD_ISSET(pair[1], &in) != 0);
    show("writable", FD_ISSET(pair[0], &out) != 0);
    show("nothing special", FD_ISSET(pair[0], &special) != 0);
    read(pair[0], buffer, 1);
    FD_ZERO(&in); FD_SET(pair[0], &in);
    struct timeval brief = {0, 2000};
    show("select in time", select(pair[0] + 1, &in, NULL, NULL, &brief));
    show("time is used up", brief.tv_sec == 0 && brief.tv_usec == 0);
    show("set is empty", FD_ISSET(pair[0], &in) != 0);
    FD_ZERO(&in); FD_SET(60, &in); /* below 64: select(2) of Linux ignores what is beyond the table, whose size a process inherits */
    show("select bad", select(61, &in, NULL, NULL, &now));
    show("select below it", select(60, &in, NULL, NULL, &now));
    show("select negative", select(-1, NULL, NULL, NULL, &now));
    struct timeval wrong = {-1, 0};
    show("select wrong time", select(0, NULL, NULL, NULL, &wrong));

    pthread_t thread;
    pthread_create(&thread, NULL, later, &pair[1]);
    entries[0].revents = 0;
    show("wait", poll(entries, 1, -1));
    pthread_join(thread, NULL);
    read(pair[0], buffer, 1);
    pthread_create(&thread, NULL, later, &pair[1]);
    FD_ZERO(&in); FD_SET(pair[0], &in);
    show("wait by select", select(pair[0] + 1, &in, NULL, NULL, NULL));
    pthread_join(thread, NULL);
    read(pair[0], buffer, 1);

    // Signals.
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigset_t none, one;
    sigemptyset(&none), sigemptyset(&one), sigaddset(&one, SIGUSR1);
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(SIGUSR1);
    struct timespec second = {1, 0}, short_time = {0, 1000000};
    show("ppoll blocked", ppoll(entries, 1, &short_time, NULL));
    show("caught", caught);
    show("ppoll", ppoll(entries, 1, &second, &none));
    show("caught", caught);
    raise(SIGUSR1);
    FD_ZERO(&in); FD_SET(pair[0], &in);
    show("pselect", pselect(pair[0] + 1, &in, NULL, NULL, &second, &none));
    show("caught", caught);
    show("set as before", FD_ISSET(pair[0], &in) != 0);
    raise(SIGUSR1);
    write(pair[1], "x", 1);
    show("ready comes first", ppoll(entries, 1, &second, &none));
    sigset_t pending;
    sigpending(&pending);
    show("still pending", sigismember(&pending, SIGUSR1));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    show("caught", caught);
    read(pair[0], buffer, 1);
    struct timespec bad = {0, 2000000000};
    show("ppoll wrong time", ppoll(entries, 1, &bad, NULL));

    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        usleep(5000);
        kill(parent, SIGUSR1);
        _exit(0);
    }
    show("poll is not restarted", poll(entries, 1, -1));
    waitpid(child, NULL, 0);
    show("caught", caught);
    return 0;
}
