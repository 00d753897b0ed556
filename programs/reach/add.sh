# Adds to a number in a file: `flock`, `mkdir` or nothing keeps others away meanwhile.
case $1 in
flock) exec 9>lock; flock 9 ;;
mkdir) until mkdir held 2>/dev/null; do sleep 1; done ;;
esac
read -r number 2>/dev/null <number
echo $((number + 1)) >number
[ "$1" = mkdir ] && rmdir held
exit 0
