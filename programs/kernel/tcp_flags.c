// Flags of recv and send, and threads that wait in them.
#include "netcheck.h"

static int ends[2];

static void *sender(void *unused) {
    for (int i = 0; i < 3; i++) {
        usleep(2000);
        send(ends[0], "abcd", 4, 0);
    }
    return NULL;
}

static void *closer(void *unused) {
    usleep(2000);
    send(ends[0], "xy", 2, 0);
    shutdown(ends[0], SHUT_WR);
    return NULL;
}

static void *drain(void *total) {
    static char block[65536];
    long count;
    while ((count = recv(ends[1], block, sizeof block, 0)) > 0) *(long *)total += count;
    return NULL;
}

int main(void) {
    connection(ends);
    send(ends[0], "peek", 4, 0);
    show_recv("peek", ends[1], 2, MSG_PEEK);
    show_recv("peek more", ends[1], 10, MSG_PEEK);
    show_recv("take", ends[1], 10, 0);

    pthread_t thread;
    pthread_create(&thread, NULL, sender, NULL);
    show_recv("wait for all", ends[1], 12, MSG_WAITALL);
    pthread_join(thread, NULL);
    show_recv("all but do not wait", ends[1], 12, MSG_WAITALL | MSG_DONTWAIT);
    send(ends[0], "abc", 3, 0);
    show_recv("all but do not wait, some", ends[1], 12, MSG_WAITALL | MSG_DONTWAIT);

    char text[16] = "........";
    send(ends[0], "thrown", 6, 0);
    show("throw away", recv(ends[1], text, 4, MSG_TRUNC));
    show_text("buffer is as before", text, 4);
    show_recv("the rest", ends[1], 10, 0);

    show("low water", set_option(ends[1], SOL_SOCKET, SO_RCVLOWAT, 4));
    send(ends[0], "abc", 3, 0);
    struct pollfd entry = {ends[1], POLLIN, 0};
    show("below the mark", poll(&entry, 1, 0));
    send(ends[0], "d", 1, 0);
    show("at the mark", poll(&entry, 1, 1000));
    show_recv("take it", ends[1], 10, 0);
    set_option(ends[1], SOL_SOCKET, SO_RCVLOWAT, 1);

    // Scattered.
    char first[4] = "", second[8] = "";
    struct iovec vector[2] = {{first, 3}, {second, 7}};
    struct msghdr message = {.msg_iov = vector, .msg_iovlen = 2};
    send(ends[0], "scatter", 7, 0);
    show("recvmsg", recvmsg(ends[1], &message, 0));
    show_text("first", first, 3);
    show_text("second", second, 4);
    show("flags", message.msg_flags);
    struct iovec parts[3] = {{"a", 1}, {"", 0}, {"bc", 2}};
    struct msghdr out = {.msg_iov = parts, .msg_iovlen = 3};
    show("sendmsg", sendmsg(ends[0], &out, 0));
    show_recv("gathered", ends[1], 10, 0);
    out.msg_iovlen = 2000;
    show("too many parts", sendmsg(ends[0], &out, 0));
    show("readv", (send(ends[0], "12345", 5, 0), readv(ends[1], vector, 2)));

    pthread_create(&thread, NULL, closer, NULL);
    show_recv("wait for more than comes", ends[1], 12, MSG_WAITALL);
    pthread_join(thread, NULL);
    close(ends[0]), close(ends[1]);

    // A sender that waits for room.
    connection(ends);
    static char much[4 << 20];
    long total = 0;
    pthread_create(&thread, NULL, drain, &total);
    show("send much", send(ends[0], much, sizeof much, 0));
    shutdown(ends[0], SHUT_WR);
    pthread_join(thread, NULL);
    show("all came", total);
    show("read of nothing", read(ends[1], much, 0));
    show("recv bad address", (send(ends[1], "x", 1, 0), recv(ends[0], (void *)8, 1, 0)));
    return 0;
}
