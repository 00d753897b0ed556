/* Litmus tests of memory models. Each thread of a test is a string of operations; what its loads return, and what is in
   memory at the end, is the exit code, one digit for each. Operations are single instructions: no compiler reorders them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
    volatile int words[4];
    int loaded[8];
} *shared;
static char **arguments;

/* "x=1": a store. "x?2": a load, the third of all. "x!1": an exchange. "x+1": a locked addition. "f": a fence. "s": a syscall.
   "m": a fence in all threads. */
static void operate(const char *operation) {
    volatile int *word = &shared->words[operation[0] - 'w'];
    int value = operation[1] ? operation[2] - '0' : 0;
    switch (operation[1] ? operation[1] : operation[0]) {
    case '=': __asm__ volatile("movl %1, %0" : "=m"(*word) : "r"(value)); break;
    case '?': {
        int loaded;
        __asm__ volatile("movl %1, %0" : "=r"(loaded) : "m"(*word));
        shared->loaded[value] = loaded;
        break;
    }
    case '!': __asm__ volatile("xchgl %1, %0" : "+m"(*word), "+r"(value)); break;
    case '+': __asm__ volatile("lock addl %1, %0" : "+m"(*word) : "r"(value)); break;
    case 'i': __asm__ volatile("incl %0" : "+m"(*word)); break;
    case 'f': __asm__ volatile("mfence" : : : "memory"); break;
    case 's': getppid(); break;
    case 'm': syscall(SYS_membarrier, 1, 0, 0); break;
    default: abort();
    }
}

static void *run(void *text) {
    char *rest, *operations = strdup(text);
    for (char *each = strtok_r(operations, " ", &rest); each; each = strtok_r(0, " ", &rest)) operate(each);
    return 0;
}

static void with_threads(int count, char **texts) {
    pthread_t threads[4];
    for (int i = 0; i < count; i++) pthread_create(&threads[i], 0, run, texts[i]);
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
}

static void with_processes(int count, char **texts) {
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            run(texts[i]);
            _exit(0);
        }
    }
    for (int i = 0; i < count; i++) wait(0);
}

/* program HOW OBSERVED THREAD...: which words and loads to tell, such as "x0" for x and the first load. */
int main(int count, char **given) {
    int code = 0;
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (given[1][0] == 'p' ? with_processes : with_threads)(count - 3, given + 3);
    for (const char *what = given[2]; *what; what++) {
        int is_word = *what >= 'w';
        code = code * 3 + (is_word ? shared->words[*what - 'w'] : shared->loaded[*what - '0']);
    }
    return 1 + code;
}
