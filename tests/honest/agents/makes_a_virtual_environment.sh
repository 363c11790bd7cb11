set -e
python3 -m venv --without-pip .venv
echo 'ANSWER = 42' > "$(.venv/bin/python -c 'import site; print(site.getsitepackages()[0])')/deep.py"
