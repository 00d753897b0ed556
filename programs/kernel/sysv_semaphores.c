// System V semaphores.
#include "netcheck.h"
#include <sys/ipc.h>
#include <sys/sem.h>

union semun {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
};

static long op(int id, int number, int add, int flags) {
    struct sembuf operation = {number, add, flags};
    return semop(id, &operation, 1);
}

static int value(int id, int number) { return semctl(id, number, GETVAL); }

int main(void) {
    key_t key = 0x5e3a0000 + getpid();
    show("missing", semget(key, 1, 0));
    int id = semget(key, 3, IPC_CREAT | 0640);
    show("create", id >= 0);
    show("exists", semget(key, 3, IPC_CREAT | IPC_EXCL | 0600));
    show("the same", semget(key, 2, 0) == id);
    show("too many", semget(key, 4, 0));
    show("none", semget(IPC_PRIVATE, 0, 0600));
    show("far too many", semget(IPC_PRIVATE, 100000, 0600));
    show("first value", value(id, 0));
    show("set", semctl(id, 0, SETVAL, (union semun){.val = 2}));
    show("set too much", semctl(id, 0, SETVAL, (union semun){.val = 40000}));
    show("no such semaphore", semctl(id, 9, GETVAL));
    show("no such set", semctl(-1, 0, GETVAL));
    unsigned short values[3] = {1, 2, 3};
    show("set all", semctl(id, 0, SETALL, (union semun){.array = values}));
    memset(values, 0, sizeof values);
    show("get all", semctl(id, 0, GETALL, (union semun){.array = values}));
    printf("all: %d %d %d\n", values[0], values[1], values[2]);
    struct semid_ds status;
    show("stat", semctl(id, 0, IPC_STAT, (union semun){.buf = &status}));
    printf("stat: %ld %o %d\n", (long)status.sem_nsems, status.sem_perm.mode, status.sem_perm.__key == key);
    show("down", op(id, 0, -1, 0));
    show("value", value(id, 0));
    show("who", semctl(id, 0, GETPID) == getpid());
    show("would wait", op(id, 0, -1, IPC_NOWAIT));
    show("is zero", op(id, 0, 0, IPC_NOWAIT));
    show("is not zero", op(id, 1, 0, IPC_NOWAIT));
    show("up", op(id, 0, 5, 0));
    show("too high", op(id, 0, 32767, 0));
    show("no such", op(id, 3, 1, 0));
    show("no operations", semop(id, NULL, 0));
    struct sembuf many[600];
    show("too many operations", semop(id, many, 600));
    show("bad address", semop(id, (void *)8, 1));
    struct sembuf both[2] = {{1, -2, IPC_NOWAIT}, {2, -9, IPC_NOWAIT}};
    show("all or none", semop(id, both, 2));
    show("none", value(id, 1));
    both[1].sem_op = -3;
    show("all", semop(id, both, 2));
    show("all", value(id, 1) + value(id, 2));
    struct sembuf self[2] = {{1, 4, 0}, {1, -3, 0}};
    show("one after the other", semop(id, self, 2));
    show("result", value(id, 1));
    struct timespec brief = {0, 1000000}, wrong = {0, -1};
    struct sembuf down = {2, -1, 0};
    show("in time", semtimedop(id, &down, 1, &brief));
    show("wrong time", semtimedop(id, &down, 1, &wrong));

    // Waiting children.
    pid_t child = fork();
    if (child == 0) _exit(op(id, 2, -2, 0) == 0 ? 7 : 1);
    while (semctl(id, 2, GETNCNT) != 1) usleep(1000);
    show("one waits", semctl(id, 2, GETNCNT));
    show("none for zero", semctl(id, 2, GETZCNT));
    op(id, 2, 1, 0);
    show("not enough", semctl(id, 2, GETNCNT));
    op(id, 2, 1, 0);
    int code;
    waitpid(child, &code, 0);
    show("child went on", WEXITSTATUS(code));

    // Undo.
    semctl(id, 0, SETVAL, (union semun){.val = 3});
    child = fork();
    if (child == 0) {
        op(id, 0, -2, SEM_UNDO);
        op(id, 0, 5, 0);
        _exit(value(id, 0));
    }
    waitpid(child, &code, 0);
    show("in the child", WEXITSTATUS(code));
    show("undone", value(id, 0));
    child = fork();
    if (child == 0) {
        op(id, 0, 4, SEM_UNDO);
        op(id, 0, -10, 0);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &code, 0);
    show("not below zero", value(id, 0));

    // Removal.
    child = fork();
    if (child == 0) _exit(op(id, 0, -1, 0) == -1 ? errno : 0);
    while (semctl(id, 0, GETNCNT) != 1) usleep(1000);
    show("remove", semctl(id, 0, IPC_RMID));
    waitpid(child, &code, 0);
    show("waiting child is told", WEXITSTATUS(code) == EIDRM);
    show("gone", semctl(id, 0, GETVAL));
    show("operation on the gone", op(id, 0, 1, 0));
    return 0;
}
