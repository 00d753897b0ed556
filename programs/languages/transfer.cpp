// Two transfers lock two accounts in both orders.
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance = 10;
};

Account alice, bob;

void transfer(Account &from, Account &to) {
    std::lock_guard<std::mutex> one(from.lock);
    std::lock_guard<std::mutex> other(to.lock);
    from.balance -= 1;
    to.balance += 1;
}

int main() {
    std::thread there([] { transfer(alice, bob); });
    std::thread back([] { transfer(bob, alice); });
    there.join();
    back.join();
}
