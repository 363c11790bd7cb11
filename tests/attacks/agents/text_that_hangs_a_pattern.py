from pathlib import Path

Path("answer.txt").write_text("a" * 60 + "!")
