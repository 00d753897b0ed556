#!/bin/sh
# Builds the clients, each with its bug and without, into `bin` of the folder from which it is called.
set -e
from=$(dirname "$0")
mkdir -p bin

build() {
    program=$1 source=$2
    shift 2
    gcc -g -O1 -pthread -I/usr/include/postgresql -o "bin/$program" "$from/$source.c" "$@"
}

for one in ${*:-redis proxy postgres}; do
    case $one in
    redis)
        build redis-lost redis -lhiredis
        build redis-incr redis -DINCR -lhiredis
        build redis-swapped redis -DSHARED -lhiredis
        build redis-locked redis -DSHARED -DLOCKED -lhiredis
        ;;
    proxy)
        build proxy-stale proxy
        build proxy-again proxy -DFIXED
        ;;
    postgres)
        build postgres-lost postgres -lpq
        build postgres-locked postgres -DFIXED -lpq
        ;;
    esac
done
