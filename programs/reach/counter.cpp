// Two threads add to a counter; -DCURED: under a mutex.
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex guard;
static int counter;

static void add() {
#ifdef CURED
    std::lock_guard<std::mutex> lock(guard);
#endif
    int seen = counter;
    counter = seen + 1;
}

int main() {
    std::thread one(add), two(add);
    one.join();
    two.join();
    assert(counter == 2);
}
