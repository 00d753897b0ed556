// Descriptors that one thread closes while another waits in a call on them: the call keeps what it was given.
#include "filecheck.h"
#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>

static int given;
static char buffer[200000];

// What the thread's call gave, told once it has ended: threads print in no order.
static const char *name;
static long result, seen;
static int error;

#define CALL(what, call)        \
    do {                        \
        name = what, errno = 0; \
        result = (call);        \
        error = errno;          \
    } while (0)

static void finish(pthread_t thread) {
    pthread_join(thread, NULL);
    CHECK(name, (errno = error, result));
}

// Starts a thread that is in its call before this returns.
static pthread_t start(void *(*function)(void *), int fd) {
    pthread_t thread;
    given = fd;
    pthread_create(&thread, NULL, function, NULL);
    usleep(100000);
    return thread;
}

static void *reads(void *unused) {
    CALL("read", read(given, buffer, 100));
    return NULL;
}

static void *writes(void *unused) {
    CALL("write", write(given, buffer, sizeof buffer));
    return NULL;
}

static void *accepts(void *unused) {
    CALL("accept", accept(given, NULL, NULL) < 0 ? -1 : 0);
    return NULL;
}

static void *polls(void *unused) {
    struct pollfd entry = {given, POLLIN, 0};
    CALL("poll", poll(&entry, 1, 300));
    seen = entry.revents;
    return NULL;
}

static void *selects(void *unused) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(given, &set);
    struct timeval time = {0, 300000};
    int fd = given;
    CALL("select", select(fd + 1, &set, NULL, NULL, &time));
    seen = FD_ISSET(fd, &set);
    return NULL;
}

static void *waits(void *unused) {
    struct epoll_event event = {0};
    CALL("epoll_wait", epoll_wait(given, &event, 1, 300));
    seen = event.events;
    return NULL;
}

static void *locks(void *unused) {
    CALL("flock", flock(given, LOCK_EX));
    return NULL;
}

static void *locks_record(void *unused) {
    struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
    CALL("F_SETLKW", fcntl(given, F_SETLKW, &lock));
    return NULL;
}

static void read_ends(void) {
    int ends[2];
    pipe(ends);
    pthread_t thread = start(reads, ends[0]);
    CHECK("close the reading end", close(ends[0]));
    CHECK("write meanwhile", write(ends[1], "hello", 5));
    finish(thread);
    CHECK("write afterwards", write(ends[1], "hello", 5));
    close(ends[1]);

    pipe(ends);
    thread = start(reads, ends[0]);
    close(ends[0]);
    close(ends[1]);
    finish(thread);

    pipe(ends);
    thread = start(reads, ends[0]);
    close(ends[0]);
    TELL("the number is used again", eventfd(7, 0) == ends[0]);
    write(ends[1], "abc", 3);
    finish(thread);
    uint64_t count = 0;
    CHECK("the new one is untouched", read(ends[0], &count, 8));
    TELL("count", count);
    close(ends[0]), close(ends[1]);

    int counter = eventfd(0, 0), same = dup(counter);
    thread = start(reads, counter);
    close(counter);
    eventfd_write(same, 3);
    finish(thread);
    close(same);
}

static void write_end(void) {
    int ends[2];
    pipe(ends);
    pthread_t thread = start(writes, ends[1]);
    close(ends[1]);
    long total = 0;
    for (ssize_t got; (got = read(ends[0], buffer, 65536)) > 0;)
        total += got;
    finish(thread);
    TELL("bytes until the end", total);
    close(ends[0]);
}

static int connects(struct sockaddr_in *address) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int result = connect(fd, (struct sockaddr *)address, sizeof *address);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static void sockets(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, length);
    listen(listener, 5);
    getsockname(listener, (struct sockaddr *)&address, &length);
    pthread_t thread = start(accepts, listener);
    close(listener);
    CHECK("connect while accept waits", connects(&address));
    finish(thread);
    CHECK("connect afterwards", connects(&address));

    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    thread = start(reads, pair[0]);
    close(pair[0]);
    CHECK("send", send(pair[1], "xy", 2, MSG_NOSIGNAL));
    finish(thread);
    CHECK("send afterwards", send(pair[1], "xy", 2, MSG_NOSIGNAL));
    close(pair[1]);
}

static void events(void) {
    void *(*const calls[])(void *) = {polls, selects};
    for (int i = 0; i < 2; i++) {
        int ends[2];
        pipe(ends);
        pthread_t thread = start(calls[i], ends[0]);
        close(ends[0]);
        CHECK("write meanwhile", write(ends[1], "x", 1));
        finish(thread);
        TELL("events", seen);
        CHECK("write afterwards", write(ends[1], "x", 1));
        close(ends[1]);
    }
    for (int i = 0; i < 2; i++) {
        int ends[2];
        pipe(ends);
        pthread_t thread = start(calls[i], ends[0]);
        close(ends[0]);
        finish(thread);
        TELL("events", seen);
        close(ends[1]);
    }
    int ends[2];
    pipe(ends);
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    pthread_t thread = start(waits, set);
    close(ends[0]);
    CHECK("what is only watched is closed", write(ends[1], "x", 1));
    finish(thread);
    TELL("events", seen);
    close(ends[1]);

    pipe(ends);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    thread = start(waits, set);
    close(set);
    write(ends[1], "x", 1);
    finish(thread);
    TELL("events", seen);
    close(ends[0]), close(ends[1]);
}

static void file_locks(void) {
    put_file("file", "text");
    int holder = open("file", O_RDWR), second = open("file", O_RDWR), third = open("file", O_RDWR);
    flock(holder, LOCK_EX);
    pthread_t thread = start(locks, second);
    close(second);
    flock(holder, LOCK_UN);
    finish(thread);
    CHECK("the lock went with the call", flock(third, LOCK_EX | LOCK_NB));
    flock(third, LOCK_UN);

    int ready[2], go[2];
    pipe(ready), pipe(go);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
        fcntl(third, F_SETLK, &lock);
        write(ready[1], "x", 1);
        read(go[0], buffer, 1);
        _exit(0);
    }
    read(ready[0], buffer, 1);
    int mine = open("file", O_RDWR);
    thread = start(locks_record, mine);
    close(mine);
    write(go[1], "x", 1);
    waitpid(child, NULL, 0);
    finish(thread);
    struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
    child = fork();
    if (child == 0) {
        CHECK("nobody holds the record", fcntl(third, F_SETLK, &lock));
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void note(int number) {}

static void interrupted(int flags) {
    struct sigaction action = {.sa_handler = note, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    int ends[2];
    pipe(ends);
    pthread_t thread = start(reads, ends[0]);
    close(ends[0]);
    pthread_kill(thread, SIGUSR1);
    finish(thread);
    CHECK("write behind the signal", write(ends[1], "x", 1));
    close(ends[1]);
}

// A process that ends, or executes, while its threads wait: nothing stays open.
static int kept[2];

static void ends_meanwhile(void) {
    start(writes, kept[1]);
    close(kept[1]);
}

static void executes_meanwhile(void) {
    start(writes, kept[1]);
    fcntl(kept[1], F_SETFD, FD_CLOEXEC);
    execl("/bin/true", "true", NULL);
}

int main(void) {
    enter_work("descriptor-closed");
    signal(SIGPIPE, SIG_IGN);
    read_ends();
    write_end();
    sockets();
    events();
    file_locks();
    interrupted(SA_RESTART);
    interrupted(0);
    void (*const leaves[])(void) = {ends_meanwhile, executes_meanwhile};
    for (int i = 0; i < 2; i++) {
        pipe(kept);
        int status = in_child(leaves[i]);
        TELL("status", status);
        close(kept[1]);
        long total = 0;
        for (ssize_t got; (got = read(kept[0], buffer, sizeof buffer)) > 0;)
            total += got;
        TELL("end of file behind", total);
        close(kept[0]);
    }
    leave_work();
}
