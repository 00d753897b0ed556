# Four threads behind one socket.
# needs: memcached nc
memcached -p $PORT -U 0 -u root -l 127.0.0.1 -t 4 & server=$!
until nc -z 127.0.0.1 $PORT; do sleep 0.1; done
say() { printf "$@" | nc -N 127.0.0.1 $PORT; }
say 'set a 0 0 3\r\nabc\r\nget a\r\nappend a 0 0 2\r\nde\r\nget a b\r\nquit\r\n'
say 'set n 0 0 2\r\n41\r\nincr n 1\r\ndecr n 40\r\nincr missing 1\r\ndelete n\r\nget n\r\nnonsense\r\nquit\r\n'
kill $server; wait $server; echo ended $?
