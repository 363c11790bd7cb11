kill -STOP 1 $PPID
kill -STOP 0
