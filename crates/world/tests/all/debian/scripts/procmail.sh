# Rules, a filter, and two deliveries at once that lock the mailbox by a lock file.
# needs: procmail
cat > rc <<END
MAILDIR=$PWD
DEFAULT=$PWD/inbox
LOCKEXT=.lock
LOCKSLEEP=1
:0:
* ^Subject:.*fruit
fruit
:0 fw
| sed s/pear/PEAR/
END
mail() { printf 'From someone@example.org Wed Jan  1 00:00:00 2025\nFrom: someone@example.org\nSubject: %s\n\n%s\n' "$1" "$2" | procmail -m rc; echo $?; }
mail plain 'a pear'; mail 'some fruit' 'a fig'
(mail 'fruit 1' one) & a=$!; (mail 'fruit 1' one) & b=$!; wait $a $b
cat inbox fruit; ls
