// A read of a terminal that waits for several bytes takes them as they come: a signal makes it return what it has.
#include "netcheck.h"
#include <pty.h>
#include <termios.h>

static int master, slave;
static pthread_t reader;

static void nothing(int number) { (void)number; }

static void *reads(void *argument) {
    char bytes[100] = "";
    long got = read(slave, bytes, sizeof bytes);
    printf("read: %ld %s '%.*s'\n", got, got < 0 ? strerrorname_np(errno) : "ok", got < 0 ? 0 : (int)got, bytes);
    return argument;
}

static void a_moment(void) { usleep(100000); }

static void on_signal(int flags) {
    struct sigaction action = {.sa_handler = nothing, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
}

static void waiting(const char *when) {
    int bytes = -1;
    ioctl(slave, FIONREAD, &bytes);
    printf("%s: %d wait in the terminal\n", when, bytes);
}

static void begin(const char *name) {
    printf("%s\n", name);
    pthread_create(&reader, NULL, reads, NULL);
    a_moment();
}

static void type(const char *text) {
    write(master, text, strlen(text));
    a_moment();
}

static void interrupt(void) {
    pthread_kill(reader, SIGUSR1);
    a_moment();
}

static void end(void) { pthread_join(reader, NULL); }

static void set_modes(int least, int tenths) {
    struct termios modes;
    tcgetattr(slave, &modes);
    cfmakeraw(&modes);
    modes.c_cc[VMIN] = least, modes.c_cc[VTIME] = tenths;
    tcsetattr(slave, TCSANOW, &modes);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    openpty(&master, &slave, NULL, NULL, NULL);
    set_modes(4, 0);
    on_signal(0);
    begin("a signal before the first byte");
    interrupt();
    end();
    begin("a signal in the middle");
    type("ab");
    waiting("two are taken");
    interrupt();
    end();
    on_signal(SA_RESTART);
    begin("one that restarts calls, before the first byte");
    interrupt();
    type("abcd");
    end();
    begin("one that restarts calls, in the middle");
    type("ab");
    interrupt();
    end();
    begin("piece by piece");
    type("ab"), type("c"), type("de");
    end();
    waiting("all are taken");
    set_modes(4, 20);
    begin("with a time");
    type("a");
    interrupt();
    end();
    set_modes(4, 0);
    begin("the other side goes away in the middle");
    type("ab");
    close(master);
    end();
}
