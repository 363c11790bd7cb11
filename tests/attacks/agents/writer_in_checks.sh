cat > main.sh <<'SH'
(setsid sh -c 'while :; do cat "$REFERENCE_DIR/answer" /scratch/reference/answer > answer.txt; done' >/dev/null 2>&1 &)
sleep 1
rm -f answer.txt
SH
echo no > answer.txt
