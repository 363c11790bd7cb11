import os
import subprocess
import sys
from pathlib import Path

PROGRAM = f"""
import json, urllib.error, urllib.request
body = json.dumps({{"model": "m", "max_tokens": 5,
                   "messages": [{{"role": "user", "content": "hi"}}]}}).encode()
request = urllib.request.Request({os.environ["ANTHROPIC_BASE_URL"]!r} + "/v1/messages", body)
request.add_header("x-api-key", {os.environ["ANTHROPIC_API_KEY"]!r})
request.add_header("content-type", "application/json")
try:
    status = urllib.request.urlopen(request, timeout=10).status
except urllib.error.HTTPError as error:
    status = error.code
"""
Path("main.py").write_text(PROGRAM + 'print("in checks", status)')
own = subprocess.check_output([sys.executable, "-c", PROGRAM + 'print("own", status)'])
Path("own.txt").write_bytes(own)
