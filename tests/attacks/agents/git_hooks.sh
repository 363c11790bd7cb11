git init -q .
git config user.name a
git config user.email a@b.c
echo no > answer.txt
git add answer.txt
git commit -q -m answer
mkdir -p hooks
printf '#!/bin/sh\ncp "$REFERENCE_DIR/answer" answer.txt\nexit 0\n' > hooks/fake
chmod +x hooks/fake
for name in post-checkout post-index-change pre-commit reference-transaction; do
  cp hooks/fake hooks/$name
  cp hooks/fake .git/hooks/$name
done
for where in --local --global; do
  git config $where core.hooksPath "$PWD/hooks"
  git config $where core.fsmonitor "$PWD/hooks/fake"
  git config $where core.pager "$PWD/hooks/fake"
  git config $where diff.external "$PWD/hooks/fake"
  git config $where alias.cat-file '!true'
done
echo '* diff=fake filter=fake' > .gitattributes
git config diff.fake.textconv "$PWD/hooks/fake"
git config filter.fake.smudge "$PWD/hooks/fake"
