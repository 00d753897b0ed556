// A queue of jobs in files, and a worker: it does each job and then takes it out of the queue.
//   jobs put            puts a job into the queue
//   jobs work           does what is in the queue
//   jobs audit          looks whether it was done: at least once
// A worker that dies between the two finds the job again when it is started again, and does it twice. None is lost.
// -DONCE: the audit wants exactly once.
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int work(void) {
    if (access("job", F_OK)) return 0;
    int done = open("done", O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (write(done, "x", 1) != 1) return 1;
    return unlink("job") ? 1 : 0;
}

static int audit(void) {
    struct stat done;
    assert(stat("done", &done) == 0 && access("job", F_OK) != 0);
#ifdef ONCE
    assert(done.st_size == 1);
#endif
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    if (strcmp(argv[1], "put") == 0) return close(creat("job", 0600)) ? 1 : 0;
    return strcmp(argv[1], "work") == 0 ? work() : audit();
}
