// System V shared memory.
#include "netcheck.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

static long attached(int id) {
    struct shmid_ds status;
    return shmctl(id, IPC_STAT, &status) ? -1 : (long)status.shm_nattch;
}

int main(void) {
    key_t key = 0x54a30000 + getpid();
    show("missing", shmget(key, 1, 0));
    show("nothing", shmget(IPC_PRIVATE, 0, 0600));
    int id = shmget(key, 5000, IPC_CREAT | 0600);
    show("create", id >= 0);
    show("exists", shmget(key, 5000, IPC_CREAT | IPC_EXCL | 0600));
    show("smaller is fine", shmget(key, 100, 0) == id);
    show("larger is not", shmget(key, 6000, 0));
    struct shmid_ds status;
    show("stat", shmctl(id, IPC_STAT, &status));
    printf("stat: %ld %o %d %d\n", (long)status.shm_segsz, status.shm_perm.mode, status.shm_cpid == getpid(),
           (int)status.shm_nattch);
    char *one = shmat(id, NULL, 0);
    show("attach", one != (void *)-1);
    show("zero", one[0] + one[4999]);
    char *two = shmat(id, NULL, SHM_RDONLY);
    show("twice", two != one);
    strcpy(one, "shared");
    show("the same", strcmp(two, "shared"));
    show("attached", attached(id));
    show("a page is whole", one[8191]);
    pid_t child = fork();
    if (child == 0) {
        strcpy(one, "by the child");
        _exit(attached(id));
    }
    int code;
    waitpid(child, &code, 0);
    show("inherited", WEXITSTATUS(code));
    show("written by the child", strcmp(two, "by the child"));
    show("attached after", attached(id));
    child = fork();
    if (child == 0) {
        two[0] = 1;
        _exit(0);
    }
    waitpid(child, &code, 0);
    show("read only", WTERMSIG(code));
    show("at a bad address", shmat(id, (void *)0x1001, 0) == (void *)-1 ? errno : 0);
    char *place = mmap(NULL, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    show("taken", shmat(id, place, 0) == (void *)-1 ? errno : 0);
    show("replaced", shmat(id, place, SHM_REMAP) == (void *)place);
    show("there too", strcmp(place, "by the child"));
    munmap(place + 8192, 8192);
    char *rounded = shmat(id, place + 8192 + 123, SHM_RND);
    show("rounded down", rounded == place + 8192);
    show("detach", shmdt(rounded));
    show("detach again", shmdt(rounded));
    show("detach inside", shmdt(one + 4096));
    show("detach", shmdt(place));
    show("no segment", shmat(-1, NULL, 0) == (void *)-1 ? errno : 0);
    show("attached", attached(id));
    show("remove", shmctl(id, IPC_RMID, NULL));
    show("still there", strcmp(one, "by the child"));
    show("still known", attached(id));
    show("no key", shmget(key, 1, 0));
    show("marked", (shmctl(id, IPC_STAT, &status), (status.shm_perm.mode & SHM_DEST) != 0));
    show("detach", shmdt(one));
    show("detach the last", shmdt(two));
    show("gone", attached(id));
    show("gone for all", shmctl(id, IPC_RMID, NULL));
    id = shmget(IPC_PRIVATE, 4096, 0600);
    child = fork();
    if (child == 0) {
        strcpy(shmat(id, NULL, 0), "left behind");
        _exit(0);
    }
    waitpid(child, &code, 0);
    show("detached at the end", attached(id));
    one = shmat(id, NULL, 0);
    show("content stays", strcmp(one, "left behind"));
    shmctl(id, IPC_RMID, NULL);
    show("replace what is at 0", shmat(id, (void *)1, SHM_RND | SHM_REMAP) != (void *)-1);
    show("lock", shmctl(id, SHM_LOCK, NULL));
    show("mode", (shmctl(id, IPC_STAT, &status), status.shm_perm.mode & ~01777));
    show("unlock", shmctl(id, SHM_UNLOCK, NULL));
    show("mode", (shmctl(id, IPC_STAT, &status), status.shm_perm.mode & ~01777));
    show("set", shmctl(id, IPC_SET, (shmctl(id, IPC_STAT, &status), status.shm_perm.mode = 0644, &status)));
    show("mode", (shmctl(id, IPC_STAT, &status), status.shm_perm.mode & 0777));
    return 0;
}
