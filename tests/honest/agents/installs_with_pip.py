"""There is no package index: the wheel is made here."""

import subprocess
import sys
import zipfile

INFO = "tinytool-1.0.dist-info"
FILES = {
    "tinytool.py": "ANSWER = 42\n\n\ndef main():\n    print('tool', ANSWER)\n",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: tinytool\nVersion: 1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/entry_points.txt": "[console_scripts]\ntinytool = tinytool:main\n",
    f"{INFO}/RECORD": "",
}
wheel = "tinytool-1.0-py3-none-any.whl"
with zipfile.ZipFile(wheel, "w") as archive:
    for path, text in FILES.items():
        archive.writestr(path, text)
subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", f"./{wheel}"], check=True)
subprocess.run(["tinytool"], check=True)
