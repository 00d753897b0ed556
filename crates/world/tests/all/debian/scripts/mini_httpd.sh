# One process for each request, and scripts run by it.
# needs: mini_httpd curl
mkdir site; cp words site; printf '#!/bin/sh\necho Content-Type: text/plain\necho\necho $REQUEST_METHOD $QUERY_STRING\ncat words | sort\n' > site/run.cgi; chmod +x site/run.cgi
mini_httpd -D -p $PORT -h 127.0.0.1 -d site -c '**.cgi' -l $PWD/log 2> /dev/null & server=$!
url=http://127.0.0.1:$PORT
until curl -s -o /dev/null $url/words; do sleep 0.1; done
curl -s $url/words; curl -s "$url/run.cgi?a=1"; curl -s "$url/run.cgi?b=2"
curl -s -o /dev/null -w '%{http_code}\n' $url/missing
kill $server; wait $server; echo ended $?
