echo 'yes no; yes no >&2' > main.sh
