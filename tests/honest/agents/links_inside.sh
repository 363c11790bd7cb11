set -e
mkdir -p data/v1 bin
echo one > data/v1/file
ln -s v1 data/current
ln -s ../data/current/file bin/by-dots
ln -s "$PWD/data/v1/file" bin/absolute
ln -s /bin/cat bin/show
ln -s missing bin/dangling
ln data/v1/file data/hard
