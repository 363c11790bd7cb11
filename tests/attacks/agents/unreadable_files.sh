umask 077
mkdir -p closed/inner "$HOME/closed"
echo no > closed/inner/file
echo no > answer.txt
chmod 000 closed/inner/file closed/inner closed answer.txt "$HOME/closed"
chmod 000 . || true
chmod 000 "$HOME" || true  # it may be root's
