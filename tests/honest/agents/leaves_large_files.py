import hashlib

block = b"0123456789abcdef" * 65536
digest = hashlib.sha256()
with open("large.bin", "wb") as file:
    for _ in range(48):
        file.write(block)
        digest.update(block)
with open("large.sha256", "w") as file:
    file.write(f"{digest.hexdigest()}  large.bin\n")
with open("holes.bin", "wb") as file:
    file.truncate(1 << 30)
    file.seek(1 << 29)
    file.write(b"middle")
