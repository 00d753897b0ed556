// The waiter looks, and then waits for a value that is there already.
#include <atomic>
#include <thread>

std::atomic<int> ready{0};

int main() {
    std::thread waiter([] {
        int seen = ready.load();
        ready.wait(seen);
    });
    ready.store(1);
    ready.notify_one();
    waiter.join();
}
