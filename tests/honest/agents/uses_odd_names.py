from pathlib import Path

for name in (
    "with space.txt",
    "ünïcode-文件.txt",
    ".hidden",
    "-dash.txt",
    "a'b\"c.txt",
    "100%.txt",
):
    Path(name).write_text(name)
