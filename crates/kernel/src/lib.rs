//! Linux as a value: processes, descriptors, files, sockets, futexes, signals, clocks; one table of syscalls.
