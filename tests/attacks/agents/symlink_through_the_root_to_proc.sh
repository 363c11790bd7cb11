ln -s / root
mkdir a
ln -s ../root/proc/self/cmdline a/b
ln -s a/b answer.txt
