// System V message queues.
#include "netcheck.h"
#include <sys/ipc.h>
#include <sys/msg.h>

static struct {
    long type;
    char text[9000];
} message;

static long put(int id, long type, const char *text, int flags) {
    message.type = type;
    strcpy(message.text, text);
    return msgsnd(id, &message, strlen(text), flags);
}

static void get(const char *name, int id, long type, int size, int flags) {
    memset(&message, 0, sizeof message);
    long count = msgrcv(id, &message, size, type, flags);
    printf("%s: %ld %ld '%.20s' %s\n", name, count, message.type, message.text, count == -1 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

int main(void) {
    key_t key = 0x3e550000 + getpid();
    show("missing", msgget(key, 0));
    int id = msgget(key, IPC_CREAT | 0620);
    show("create", id >= 0);
    show("exists", msgget(key, IPC_CREAT | IPC_EXCL));
    show("the same", msgget(key, 0) == id);
    get("empty", id, 0, 100, IPC_NOWAIT);
    show("send", put(id, 5, "five", 0));
    show("send", put(id, 2, "two", 0));
    show("send", put(id, 9, "nine", 0));
    show("send", put(id, 2, "two again", 0));
    show("send empty", put(id, 7, "", 0));
    show("type 0", put(id, 0, "zero", 0));
    show("type below 0", put(id, -1, "minus", 0));
    message.type = 1;
    show("too long", msgsnd(id, &message, 9000, 0));
    show("no queue", msgsnd(-1, &message, 1, 0));
    show("bad address", msgsnd(id, (void *)8, 1, 0));
    struct msqid_ds status;
    show("stat", msgctl(id, IPC_STAT, &status));
    printf("stat: %ld messages %ld bytes at most %ld mode %o sender %d\n", (long)status.msg_qnum,
           (long)status.__msg_cbytes, (long)status.msg_qbytes, status.msg_perm.mode, status.msg_lspid == getpid());
    get("by type", id, 2, 100, 0);
    get("no such type", id, 4, 100, IPC_NOWAIT);
    get("the lowest", id, -6, 100, 0);
    get("another", id, 5, 100, MSG_EXCEPT);
    get("too small", id, 0, 2, 0);
    get("cut", id, 0, 2, MSG_NOERROR);
    get("the empty one", id, 0, 100, 0);
    get("nothing left", id, 0, 100, IPC_NOWAIT);
    get("negative size", id, 0, -1, 0);

    // Full.
    memset(message.text, 'x', 8192);
    message.type = 1;
    show("big", msgsnd(id, &message, 8192, 0));
    show("big again", msgsnd(id, &message, 8192, 0));
    show("full", msgsnd(id, &message, 1, IPC_NOWAIT));
    show("empty has room", msgsnd(id, &message, 0, IPC_NOWAIT));
    pid_t child = fork();
    if (child == 0) _exit(put(id, 3, "waited", 0) == 0 ? 5 : 1);
    usleep(200000);
    get("make room", id, 1, 8192, 0);
    int code;
    waitpid(child, &code, 0);
    show("child went on", WEXITSTATUS(code));
    get("from the child", id, 3, 100, 0);
    child = fork();
    if (child == 0) {
        memset(&message, 0, sizeof message);
        _exit(msgrcv(id, &message, 100, 77, 0));
    }
    usleep(200000);
    put(id, 76, "other", 0);
    put(id, 77, "wanted", 0);
    waitpid(child, &code, 0);
    show("child got", WEXITSTATUS(code));
    child = fork();
    if (child == 0) _exit(msgrcv(id, &message, 100, 1234, 0) == -1 ? errno : 0);
    usleep(200000);
    show("remove", msgctl(id, IPC_RMID, NULL));
    waitpid(child, &code, 0);
    show("waiting child is told", WEXITSTATUS(code) == EIDRM);
    show("gone", msgctl(id, IPC_STAT, &status));
    return 0;
}
