// Two threads take the last ticket.
#include <atomic>
#include <stdexcept>
#include <thread>

std::atomic<int> tickets{1};

void take() {
    if (tickets.load() == 0) return;
    if (tickets.fetch_sub(1) <= 0) throw std::runtime_error("oversold");
}

int main() {
    std::thread other(take);
    take();
    other.join();
}
