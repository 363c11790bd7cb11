set -e
cat > Makefile <<'M'
out/all.txt: out/a.txt out/b.txt
	cat $^ > $@
out/%.txt: src/%.txt
	mkdir -p out
	tr a-z A-Z < $< > $@
M
mkdir src
echo hello > src/a.txt
echo world > src/b.txt
make
