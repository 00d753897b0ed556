// What a waiting call was given is copied when it begins: changes of the original do not matter to it.
#include "netcheck.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>

static int pipes[2], other[2];
static struct pollfd entries[2];
static fd_set set;
static struct timespec time_left;
static struct sembuf operation;
static sigset_t signals;
static int semaphores;
static pthread_t waiter;

static void nothing(int number) { (void)number; }

// Lets the other thread come to its call.
static void a_moment(void) { usleep(100000); }

static void fill(void) {
    entries[0] = (struct pollfd){pipes[0], POLLIN, 0x77};
    entries[1] = (struct pollfd){other[0], POLLIN, 0x77};
}

static void *polls(void *argument) {
    show("poll", poll(entries, 2, argument ? 500 : -1));
    return NULL;
}

static void *selects(void *argument) {
    struct timeval time = {100, 0};
    show("select", select(pipes[0] + 1, &set, NULL, NULL, argument ? argument : &time));
    return NULL;
}

static void *polls_for_a_time(void *argument) {
    // The C library would hand over a copy of the time.
    show("ppoll", syscall(SYS_ppoll, entries, 1, &time_left, NULL, 8));
    return argument;
}

static void *operates(void *argument) {
    show("semop", semop(semaphores, &operation, 1));
    return argument;
}

static struct { long kind; char text[8]; } message;
static int queue;
static mqd_t posix;

static void *sends(void *argument) {
    show("msgsnd", msgsnd(queue, &message, 8, 0));
    return argument;
}

static void *posts(void *argument) {
    show("mq_send", mq_send(posix, message.text, 8, 0));
    return argument;
}

static void *waits_for_signal(void *argument) {
    show("sigtimedwait", sigtimedwait(&signals, NULL, &time_left));
    return argument;
}

static void *sleeps(void *argument) {
    show("nanosleep", nanosleep(&time_left, NULL));
    return argument;
}

static void begin(void *(*call)(void *), void *argument) {
    pthread_create(&waiter, NULL, call, argument);
    a_moment();
}

static void end(void) { pthread_join(waiter, NULL); }

static void answers(void) { printf("events returned: %#x %#x\n", entries[0].revents, entries[1].revents); }

static void empty(void) {
    char byte;
    read(pipes[0], &byte, 1);
}

static void ask_for(int fd) {
    FD_ZERO(&set);
    FD_SET(fd, &set);
}

static void entries_change(void) {
    fill();
    begin(polls, NULL);
    answers();
    entries[0] = (struct pollfd){-1, 0, 0x11};
    entries[1].events = 0;
    write(pipes[1], "x", 1);
    end();
    answers();
    printf("descriptor and events stay changed: %d %d\n", entries[0].fd, entries[0].events);
    empty();
    fill();
    begin(polls, NULL);
    pthread_kill(waiter, SIGUSR1);
    end();
    answers();
    fill();
    polls(waiter ? (void *)1 : NULL);
    answers();
}

static void sets_change(void) {
    ask_for(pipes[0]);
    begin(selects, NULL);
    ask_for(60);
    write(pipes[1], "x", 1);
    end();
    printf("set: %d %d\n", FD_ISSET(pipes[0], &set) != 0, FD_ISSET(60, &set) != 0);
    empty();
    begin(selects, NULL);
    ask_for(61);
    pthread_kill(waiter, SIGUSR1);
    end();
    printf("set that an error leaves: %d %d\n", FD_ISSET(pipes[0], &set) != 0, FD_ISSET(61, &set) != 0);
    static struct timeval time = {100, 0};
    ask_for(pipes[0]);
    begin(selects, &time);
    time.tv_sec = 0, time.tv_usec = -1;
    write(pipes[1], "x", 1);
    end();
    printf("time left: %d\n", time.tv_sec > 50);
    empty();
}

static void times_change(void) {
    fill();
    time_left = (struct timespec){100, 0};
    begin(polls_for_a_time, NULL);
    printf("time is not written yet: %ld\n", (long)time_left.tv_sec);
    time_left = (struct timespec){0, -1};
    write(pipes[1], "x", 1);
    end();
    printf("time left: %d\n", time_left.tv_sec > 50);
    empty();
    time_left = (struct timespec){100, 0};
    begin(polls_for_a_time, NULL);
    time_left = (struct timespec){0, -1};
    pthread_kill(waiter, SIGUSR1);
    end();
    printf("time left: %d\n", time_left.tv_sec > 50);
    time_left = (struct timespec){0, 300000000};
    begin(sleeps, NULL);
    time_left = (struct timespec){0, -1};
    end();
}

static void others_change(void) {
    semaphores = semget(IPC_PRIVATE, 2, 0600);
    operation = (struct sembuf){0, -1, 0};
    begin(operates, NULL);
    operation = (struct sembuf){9, -5, 0};
    semop(semaphores, &(struct sembuf){0, 1, 0}, 1);
    end();
    semctl(semaphores, 0, IPC_RMID);
    sigemptyset(&signals), sigaddset(&signals, SIGUSR2);
    time_left = (struct timespec){100, 0};
    begin(waits_for_signal, NULL);
    sigemptyset(&signals);
    time_left = (struct timespec){0, -1};
    pthread_kill(waiter, SIGUSR2);
    end();
}

// The second message waits until the first is taken.
static void messages_change(void) {
    queue = msgget(IPC_PRIVATE, 0600);
    struct msqid_ds limits;
    msgctl(queue, IPC_STAT, &limits), limits.msg_qbytes = 8, msgctl(queue, IPC_SET, &limits);
    message.kind = 1, strcpy(message.text, "before");
    msgsnd(queue, &message, 8, 0);
    begin(sends, NULL);
    message.kind = 0, strcpy(message.text, "after");
    show("first", msgrcv(queue, &message, 8, 0, 0));
    end();
    show("second", msgrcv(queue, &message, 8, 0, 0)), printf("%ld %s\n", message.kind, message.text);
    msgctl(queue, IPC_RMID, NULL);
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    posix = mq_open("/poll_copied", O_RDWR | O_CREAT, 0600, &attributes), mq_unlink("/poll_copied");
    strcpy(message.text, "before"), mq_send(posix, message.text, 8, 0);
    begin(posts, NULL);
    strcpy(message.text, "after"), mq_receive(posix, message.text, 8, NULL), strcpy(message.text, "after");
    end();
    mq_receive(posix, message.text, 8, NULL), printf("%s\n", message.text);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigset_t blocked;
    sigemptyset(&blocked), sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pipe(pipes), pipe(other);
    entries_change();
    sets_change();
    times_change();
    others_change();
    messages_change();
}
