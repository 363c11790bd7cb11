import os

for folder in range(205):
    os.mkdir(f"d{folder}")
    for number in range(1000):
        os.close(os.open(f"d{folder}/{number}", os.O_CREAT | os.O_WRONLY))
