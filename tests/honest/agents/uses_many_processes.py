from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def square(number):
    return number * number


if __name__ == "__main__":
    with ProcessPoolExecutor(8) as pool:
        Path("sum.txt").write_text(str(sum(pool.map(square, range(1000)))))
