"""Two threads add to a counter; with an argument, under a lock."""
import sys
import threading

guard = threading.Lock()
counter = 0


def next_of(number):
    # CPython switches threads where a function begins, and at the end of loops.
    return number + 1


def add():
    global counter
    if len(sys.argv) > 1:
        with guard:
            counter = next_of(counter)
    else:
        counter = next_of(counter)


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert counter == 2, counter
