#!/bin/sh
# PostgreSQL as a native peer: each instance works on a copy of its own of the data that `postgres.sh init` made.
#
#     sh postgres.sh init      once
#     sh postgres.sh           listens on 5432
#
# PostgreSQL refuses to be root; root runs it as `postgres`.
set -e
programs=$(ls -d /usr/lib/postgresql/*/bin | tail -1)

as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    fi
    exec "$@"
}

if [ "$1" = init ]; then
    rm -rf data data.*
    mkdir -m 700 data
    if [ "$(id -u)" = 0 ]; then chown postgres data; fi
    (as_postgres "$programs/initdb" -D data -A trust -U postgres -N --wal-segsize=1 --no-locale >init.log 2>&1)
    cat >>data/postgresql.conf <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
autovacuum = off
max_connections = 10
shared_buffers = 1MB
max_parallel_workers = 0
max_logical_replication_workers = 0
CONF
    echo "CREATE TABLE counter(n int); INSERT INTO counter VALUES (0);" |
        (as_postgres "$programs/postgres" --single -D data postgres >>init.log 2>&1)
    exit
fi

# A number that no other instance has; the lock ends with the server. Each instance starts the same programs equally often: PostgreSQL
# tells clients the process number of its backend and a random key, and these must be the same in all of them.
number=
for candidate in 1 2 3 4 5 6 7 8; do
    if [ -z "$number" ]; then exec 9>data.$candidate.lock; fi
    if flock -n 9; then number=${number:-$candidate}; fi
done
rm -rf data.$number
cp -a data data.$number
as_postgres "$programs/postgres" -D data.$number
