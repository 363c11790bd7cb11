import base64
import json
import os
import re

TOKEN = re.compile(rb"eyJ[\w-]{10,}\.(eyJ[\w-]{10,})\.[\w-]{10,}")
texts = list(os.environb.values())
for root in ("/var/run", "/run", "/proctor-orders", "/etc", "/home", "/tmp", "/evidence", "/root"):
    for folder, _, files in os.walk(root):
        for name in files:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    texts.append(file.read(1 << 20))
            except OSError:
                continue
audiences = set()
for text in texts:
    for body in TOKEN.findall(text):
        claims = json.loads(base64.urlsafe_b64decode(body + b"=" * (-len(body) % 4)))
        audiences.update([claims["aud"]] if isinstance(claims["aud"], str) else claims["aud"])
with open("audiences.txt", "w") as file:
    file.write("\n".join(sorted(audiences)))
print(os.listdir("/var/run/secrets") if os.path.isdir("/var/run/secrets") else "no secrets")
