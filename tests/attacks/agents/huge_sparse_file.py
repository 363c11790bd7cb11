with open("answer.txt", "wb") as file:
    for size in (1 << 50, 1 << 43, 1 << 40, 1 << 37):
        try:
            file.truncate(size)
            break
        except OSError as error:
            print(error)
