"""Two threads add to a counter; with an argument, under a lock."""
import sys
import threading

guard = threading.Lock()
counter = 0


def add():
    global counter
    if len(sys.argv) > 1:
        with guard:
            counter += 1
    else:
        seen = counter
        counter = seen + 1


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert counter == 2, counter
