import sqlite3

with sqlite3.connect("data.db") as database:
    database.execute("pragma journal_mode = wal")
    database.execute("create table t (x)")
    database.executemany("insert into t values (?)", [(number,) for number in range(1000)])
