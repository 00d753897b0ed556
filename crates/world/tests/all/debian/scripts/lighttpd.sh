# One process with epoll and sendfile; ranges, connections that are kept, four clients at once.
# needs: lighttpd curl
cat > conf <<END
server.document-root = "$PWD"
server.port = $PORT
server.bind = "127.0.0.1"
server.errorlog = "$PWD/log"
dir-listing.activate = "disable"
END
lighttpd -D -f conf & server=$!
until curl -s -o /dev/null http://127.0.0.1:$PORT/words; do sleep 0.1; done
url=http://127.0.0.1:$PORT
curl -s $url/words; curl -s $url/data | sha256sum; curl -s -r 2-5 $url/words; echo
curl -s -w '%{http_code} %{size_download} %{num_connects}\n' $url/words $url/missing $url/../../etc/passwd
curl -s -I $url/words | grep -v -e Date -e ETag; curl -s -X POST -d a=b -o /dev/null -w '%{http_code}\n' $url/words
for i in 1 2 3 4; do curl -s $url/data | md5sum & jobs="$jobs $!"; done; wait $jobs
# With connections that are still open it ends with 1, on the host, too: who is faster decides.
kill $server; wait $server; echo ended
