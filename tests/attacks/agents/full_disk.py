import time

with open("big", "wb") as file:
    for _ in range(300):
        file.write(b"x" * (1 << 20))
time.sleep(50)
