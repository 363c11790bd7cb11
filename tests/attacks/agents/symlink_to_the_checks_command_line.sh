ln -s /proc/self/cmdline answer.txt
