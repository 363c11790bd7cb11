set -e
umask 077
mkdir -p src/inner "$HOME/data"
echo secret-plan > src/inner/plan.txt
echo '#!/bin/sh
echo runs' > src/run
chmod 700 src/run
echo home > "$HOME/data/file"
