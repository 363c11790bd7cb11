head -c 10000000000 /dev/zero
