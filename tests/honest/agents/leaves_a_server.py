"""It runs the server while it works; the check has to start it again."""

import contextlib
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

Path("server.py").write_text("""
import http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
with open("port.new", "w") as file:
    file.write(str(server.server_port))
import os
os.rename("port.new", "port")
server.serve_forever()
""")
Path("index.html").write_text("hello from the server")
subprocess.Popen([sys.executable, "server.py"], start_new_session=True)
for _ in range(100):
    with contextlib.suppress(OSError):
        url = f"http://127.0.0.1:{Path('port').read_text()}/"
        print(urllib.request.urlopen(url).read().decode())
        break
    time.sleep(0.1)
Path("port").unlink()
