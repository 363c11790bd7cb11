from pathlib import Path

Path("main.py").write_text("""
import os
opened = ["tried"]
for pid in ("self", "1", str(os.getpid())):
    for part in ("environ", "mem", "maps"):
        try:
            with open(f"/proc/{pid}/{part}", "rb") as file:
                file.read(0 if part == "mem" else 1)
            opened.append(f"{pid}-{part}")
        except OSError:
            pass
print(*opened)
""")
