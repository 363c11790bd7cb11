import os

for number, path in enumerate((
    "/proc/1/environ", "/proc/self/environ", "/evidence/agent/transcript.jsonl", "/etc/shadow",
    "/proctor-orders/agent/orders.json", "/var/run/proctor/agent/token", "/dev/zero",
)):  # fmt: skip
    try:
        os.link(path, "answer.txt" if number == 0 else f"link{number}")
    except OSError as error:
        print(path, error)
os.makedirs("d", exist_ok=True)
with open("d/one", "w") as file:
    file.write("x")
for number in range(500):
    os.link("d/one", f"d/{number}")
