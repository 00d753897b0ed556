# Two writers in two processes on one write-ahead log, and one that finds the database locked.
# needs: sqlite3
sqlite3 t.db 'pragma journal_mode = wal; create table t (who, n); create index i on t (n);'
writer() { for i in 1 2 3 4 5 6; do sqlite3 -cmd '.timeout 20000' t.db "insert into t values ('$1', $i); update t set n = n + 1 where who = '$1';"; done; }
writer a & a=$!; writer b & b=$!; wait $a $b
sqlite3 t.db 'select who, count(*), sum(n) from t group by who; pragma integrity_check; pragma wal_checkpoint;' 
mkfifo in out; sqlite3 t.db < in > out & exec 3> in 4< out
echo "begin immediate; insert into t values ('c', 1); select 'writing';" >&3; read line <&4; echo $line
sqlite3 t.db 'select count(*) from t; insert into t values (1, 2);'; echo 'commit;' >&3; exec 3>&-; wait
sqlite3 t.db 'select count(*) from t;'
sqlite3 t.db "with recursive c(x) as (select 1 union all select x+1 from c where x < 2000) select sum(x), avg(x*1.5), group_concat(x % 10, '') like '123%' from c"
