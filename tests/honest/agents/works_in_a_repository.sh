set -e
git init --quiet .
git config user.name agent
git config user.email agent@localhost
echo one > file
git add file
git commit --quiet --message first
git checkout --quiet -b feature
echo two >> file
git commit --quiet --all --message second
git tag v1
git gc --quiet
git worktree add --quiet "$HOME/tree"
