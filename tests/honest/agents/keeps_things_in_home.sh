set -e
mkdir -p "$HOME/.config/tool" "$HOME/.local/bin" "$HOME/.local/share/tool" "$HOME/.cache"
echo 'answer = 42' > "$HOME/.config/tool/config.ini"
printf '#!/bin/sh\ncat "$HOME/.config/tool/config.ini"\n' > "$HOME/.local/bin/my-tool"
chmod +x "$HOME/.local/bin/my-tool"
ln -s "$HOME/.local/share/tool" "$HOME/tool"
echo data > "$HOME/tool/data"
my-tool
