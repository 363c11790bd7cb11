import os
import urllib.request
from urllib.parse import urlsplit

host = urlsplit(os.environ["ANTHROPIC_BASE_URL"]).hostname
reached = ["tried"]
for port in (8080, 8081):
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=3) as answer:
            reached.append(f"reached {len(answer.read())} bytes on port {port}")
    except OSError as error:
        print(port, error)
with open("reached.txt", "w") as file:
    file.write("\n".join(reached))
