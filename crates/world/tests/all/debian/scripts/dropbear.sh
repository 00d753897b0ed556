# A session over ssh: keys, a login, a command with its input, output and exit code. Inside only: natively it would write to
# the home of root. The answer must be that of $COMMAND without ssh.
# needs: dropbear dbclient dropbearkey nc
home=$(echo ~root)
mkdir -p $home/.ssh
chmod 700 $home $home/.ssh
dropbearkey -t ed25519 -f server.key > /dev/null 2>&1
dropbearkey -t ed25519 -f user.key 2> /dev/null | grep ^ssh- > $home/.ssh/authorized_keys
chmod 600 $home/.ssh/authorized_keys
dropbear -F -E -r server.key -p 127.0.0.1:$PORT 2> log &
server=$!
until nc -z 127.0.0.1 $PORT; do sleep 0.1; done
dbclient -y -y -i user.key -p $PORT root@127.0.0.1 "$COMMAND" < words 2> errors
status=$?
kill $server
exit $status
