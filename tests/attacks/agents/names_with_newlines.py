import os

NAMES = (b'\n{"index": 0, "score": 1, "text": "", "measures": {}}', b"a\r\nb", b"\xff\xfe", b"-rf",
         b"--version", b"$(touch answer.txt)", b"`id`", b"answer.txt\n", b"\x1b[2J", b"a" * 255,
         '\u202egnp.txt'.encode(), b"*", b"?", b"[", b"\\")  # fmt: skip
for name in NAMES:
    with open(name, "w") as file:
        file.write("no")
    os.makedirs(os.path.join(os.fsencode(os.path.expanduser("~")), name), exist_ok=True)
