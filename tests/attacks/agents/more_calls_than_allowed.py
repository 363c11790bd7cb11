import json
import os
import threading
import urllib.error
import urllib.request

BODY = json.dumps({"model": "m", "max_tokens": 5,
                   "messages": [{"role": "user", "content": "hi"}]}).encode()  # fmt: skip
served = []


def call():
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", BODY)
    request.add_header("x-api-key", os.environ["ANTHROPIC_API_KEY"])
    request.add_header("content-type", "application/json")
    try:
        urllib.request.urlopen(request, timeout=30).read()
        served.append(1)
    except urllib.error.HTTPError:
        return


threads = [threading.Thread(target=call) for _ in range(30)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open("served.txt", "w") as file:
    file.write(f"served {len(served)} calls")
