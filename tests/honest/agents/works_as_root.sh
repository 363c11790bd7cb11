set -e
[ "$(id -u)" = 0 ]
umask 077
mkdir -p work "$HOME/.config"
echo forty-two > work/answer
chown -R 1234:1234 work
chmod 500 work
echo setting > "$HOME/.config/tool"
printf '#!/bin/sh\ncat "$HOME/.config/tool" work/answer\n' > run.sh
chmod 700 run.sh
useradd --create-home worker
echo notes > ~worker/notes
