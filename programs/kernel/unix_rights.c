// Open files and identities in messages.
#include "netcheck.h"

static char control[256];

static long send_files(int fd, const int *files, int count, const char *text) {
    struct iovec part = {(void *)text, strlen(text)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), files, count * sizeof(int));
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

// Receives a message and shows how many files came with it.
static int receive_files(const char *name, int fd, int *files, int room, int flags) {
    char buffer[64];
    struct iovec part = {buffer, sizeof buffer};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room ? control : NULL};
    message.msg_controllen = room;
    long length = recvmsg(fd, &message, flags);
    int count = 0;
    for (struct cmsghdr *header = room ? CMSG_FIRSTHDR(&message) : NULL; header; header = CMSG_NXTHDR(&message, header))
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
            count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(files, CMSG_DATA(header), count * sizeof(int));
        }
    printf("%s: %ld '%.*s' files %d flags %x control %d\n", name, length, length > 0 ? (int)length : 0, buffer, count,
           message.msg_flags, (int)message.msg_controllen);
    return count;
}

int main(void) {
    int pair[2], inner[2], files[8];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pipe(inner);
    show("send", send_files(pair[0], &inner[1], 1, "file"));
    close(inner[1]);
    receive_files("receive", pair[1], files, sizeof control, 0);
    show("write through it", write(files[0], "through", 7));
    close(files[0]);
    char buffer[64];
    show_text("it arrives", buffer, read(inner[0], buffer, 64));
    show("all writers are gone", read(inner[0], buffer, 64));

    pipe(inner);
    send(pair[0], "before", 6, 0);
    send_files(pair[0], inner, 2, "with");
    send(pair[0], "after", 5, 0);
    receive_files("before the files", pair[1], files, sizeof control, 0);
    int count = receive_files("the rest", pair[1], files, sizeof control, MSG_DONTWAIT);
    for (int i = 0; i < count; i++) close(files[i]);
    receive_files("after the files", pair[1], files, sizeof control, MSG_DONTWAIT);

    send_files(pair[0], inner, 2, "cut");
    count = receive_files("room for one", pair[1], files, CMSG_LEN(sizeof(int)), 0);
    for (int i = 0; i < count; i++) close(files[i]);
    send_files(pair[0], inner, 1, "none");
    receive_files("room for none", pair[1], files, 0, 0);
    send_files(pair[0], inner, 1, "plain");
    show_recv("plain recv", pair[1], 64, 0);
    send_files(pair[0], inner, 1, "exec");
    receive_files("close on exec", pair[1], files, sizeof control, MSG_CMSG_CLOEXEC);
    show("flag", fcntl(files[0], F_GETFD));
    close(files[0]);
    send_files(pair[0], inner, 1, "peek");
    receive_files("peek", pair[1], files, sizeof control, MSG_PEEK);
    show("peeked is open", fcntl(files[0], F_GETFD));
    close(files[0]);
    receive_files("take", pair[1], files, sizeof control, 0);
    close(files[0]);
    int bad = 99;
    show("bad descriptor", send_files(pair[0], &bad, 1, "bad"));

    // A socket through itself, and a file that nobody takes.
    send_files(pair[0], &pair[0], 1, "self");
    receive_files("a socket", pair[1], files, sizeof control, 0);
    show("it is the same", (write(files[0], "x", 1), read(pair[1], buffer, 1)));
    close(files[0]);
    pipe(inner);
    send_files(pair[0], &inner[1], 1, "lost");
    close(inner[1]), close(pair[0]), close(pair[1]);
    show("lost file is closed", read(inner[0], buffer, 1));

    // Identities.
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    show("pass", set_option(pair[1], SOL_SOCKET, SO_PASSCRED, 1));
    send(pair[0], "who", 3, 0);
    struct iovec part = {buffer, sizeof buffer};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    show("recvmsg", recvmsg(pair[1], &message, 0));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    show("level", header->cmsg_level), show("type", header->cmsg_type), show("length", header->cmsg_len);
    struct ucred *who = (struct ucred *)CMSG_DATA(header);
    show("us", who->pid == getpid() && who->uid == getuid() && who->gid == getgid());
    pid_t child = fork();
    if (child == 0) {
        send(pair[0], "child", 5, 0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    message.msg_controllen = sizeof control;
    recvmsg(pair[1], &message, 0);
    show("the child", ((struct ucred *)CMSG_DATA(CMSG_FIRSTHDR(&message)))->pid == child);
    // A file from a child.
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    child = fork();
    if (child == 0) {
        int fresh[2];
        pipe(fresh);
        write(fresh[1], "from the child", 14);
        send_files(pair[1], fresh, 1, "pipe");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    receive_files("from a child", pair[0], files, sizeof control, 0);
    show_text("its pipe", buffer, read(files[0], buffer, 64));
    return 0;
}
