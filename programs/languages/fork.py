"""A child and its parent add to a number in a file."""
import os
import sys


def add():
    with open("number") as file:
        seen = int(file.read())
    with open("number.%d" % os.getpid(), "w") as file:
        file.write(str(seen + 1))
    os.rename(file.name, "number")


child = os.fork()
add()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
with open("number") as file:
    if file.read() != "2":
        sys.exit("an addition is lost")
