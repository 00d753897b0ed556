// POSIX message queues.
#include "netcheck.h"
#include <mqueue.h>

static volatile sig_atomic_t told, told_value, told_code;
static void notice(int number, siginfo_t *info, void *context) {
    told++, told_value = info->si_value.sival_int, told_code = info->si_code;
}

static void get(const char *name, mqd_t queue, int size) {
    char buffer[8192] = "";
    unsigned priority = 0;
    long count = mq_receive(queue, buffer, size, &priority);
    printf("%s: %ld '%.*s' %u %s\n", name, count, count > 0 ? (int)count : 0, buffer, priority,
           count == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

static void *later(void *queue) {
    usleep(3000);
    mq_send(*(mqd_t *)queue, "later", 5, 0);
    return NULL;
}

int main(void) {
    char name[64];
    sprintf(name, "/queue%d", getpid());
    show("missing", mq_open(name, O_RDWR));
    struct mq_attr attributes = {.mq_maxmsg = 3, .mq_msgsize = 16};
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    show("create", queue >= 0);
    show("exists", mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
    show("bad name", mq_open("noslash", O_RDWR | O_CREAT, 0600, NULL));
    show("slashes", mq_open("/a/b", O_RDWR | O_CREAT, 0600, NULL));
    struct mq_attr wrong = {.mq_maxmsg = 0, .mq_msgsize = 16};
    show("bad size", mq_open("/never", O_RDWR | O_CREAT, 0600, &wrong));
    struct mq_attr now;
    show("attributes", mq_getattr(queue, &now));
    printf("attributes: %ld %ld %ld %ld\n", now.mq_flags, now.mq_maxmsg, now.mq_msgsize, now.mq_curmsgs);
    show_poll("poll empty", queue);
    show("send", mq_send(queue, "low", 3, 1));
    show("send", mq_send(queue, "high", 4, 8));
    show("send", mq_send(queue, "low too", 7, 1));
    show_poll("poll full", queue);
    show("too long", mq_send(queue, "0123456789abcdefg", 17, 0));
    show("bad priority", mq_send(queue, "x", 1, 32768));
    struct timespec past = {0, 0}, bad = {0, -1};
    show("in the past", mq_timedsend(queue, "x", 1, 0, &past));
    show("bad time", mq_timedsend(queue, "x", 1, 0, &bad));
    struct mq_attr flags = {.mq_flags = O_NONBLOCK};
    show("do not wait", mq_setattr(queue, &flags, &now));
    show("count", now.mq_curmsgs);
    show("full", mq_send(queue, "x", 1, 0));
    get("buffer too small", queue, 15);
    get("most urgent", queue, 16);
    get("oldest", queue, 100);
    get("last", queue, 100);
    get("empty", queue, 100);
    show("empty message", mq_send(queue, "", 0, 3));
    get("empty message", queue, 100);
    mqd_t reader = mq_open(name, O_RDONLY), writer = mq_open(name, O_WRONLY);
    show("read only", mq_send(reader, "x", 1, 0));
    get("write only", writer, 100);

    struct sigaction action = {.sa_sigaction = notice, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 17};
    show("notify", mq_notify(queue, &event));
    show("busy", mq_notify(queue, &event));
    mq_send(writer, "first", 5, 0);
    show("told", told);
    show("value", told_value);
    show("code", told_code);
    mq_send(writer, "second", 6, 0);
    show("only once", told);
    show("notify again", mq_notify(queue, &event));
    mq_send(writer, "third", 5, 0);
    show("not for more", told);
    show("cancel", mq_notify(queue, NULL));
    show("notify a third time", mq_notify(queue, &event));
    for (int i = 0; i < 3; i++) get("drain", queue, 100);
    mq_send(writer, "fourth", 6, 0);
    show("told", told);
    get("drain", queue, 100);

    pthread_t thread;
    pthread_create(&thread, NULL, later, &writer);
    get("wait", reader, 100);
    pthread_join(thread, NULL);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 2000000;
    if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
    char buffer[16];
    show("wait in time", mq_timedreceive(reader, buffer, 16, NULL, &soon));
    pid_t child = fork();
    if (child == 0) {
        mq_send(writer, "child", 5, 2);
        _exit(0);
    }
    get("from a child", reader, 100);
    waitpid(child, NULL, 0);
    show("unlink", mq_unlink(name));
    show("unlink again", mq_unlink(name));
    show("still usable", mq_send(writer, "x", 1, 0));
    show("close", mq_close(reader));
    show("closed", mq_close(reader));
    show("not a queue", mq_getattr(0, &now));
    return 0;
}
