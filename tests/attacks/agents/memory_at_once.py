held = []
while True:
    held.append(b"x" * (64 << 20))
