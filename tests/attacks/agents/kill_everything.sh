kill -STOP -1
kill -KILL -1
