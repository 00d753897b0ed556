# A server that forks to save, and comes back with what it saved.
# needs: redis-server redis-cli
serve() { redis-server --port $PORT --dir $PWD --save '' --logfile log & until redis-cli -p $PORT ping > /dev/null 2>&1; do sleep 0.1; done; }
ask() { redis-cli -p $PORT "$@"; }
serve
ask set k 'a value'; ask get k; ask incr n; ask append k '!'; ask strlen k
seq 1 200 | sed 's/.*/rpush list &/' | redis-cli -p $PORT | tail -n 1
ask lrange list 0 4; ask hset h a 1 b 2; ask hget h b; ask zadd z 3 c 1 a 2 b; ask zrange z 0 -1 withscores
ask eval 'return redis.call("llen", KEYS[1]) * 2' 1 list
ask get h; ask nonsense
ask bgsave; until [ -s dump.rdb ]; do sleep 0.1; done
ask shutdown nosave; wait; echo ended $?
serve; ask get k; ask llen list; ask shutdown nosave; wait; echo ended $?
