import compileall
import subprocess
import sys
import zipapp
from pathlib import Path

Path("app/core").mkdir(parents=True)
Path("app/core/__init__.py").write_text("def answer():\n    return 42\n")
Path("app/__main__.py").write_text("from core import answer\n\nprint(answer())\n")
compileall.compile_dir("app", quiet=1)
zipapp.create_archive("app", "app.pyz", interpreter="/usr/bin/env python3")
subprocess.run([sys.executable, "app.pyz"], check=True)
