import json
import os
import urllib.error
import urllib.request

base, key = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_API_KEY"]


def ask(method, path, body=None, headers=()):
    request = urllib.request.Request(base + path, body, method=method)
    request.add_header("authorization", f"Bearer {key}")
    request.add_header("content-type", "application/json")
    for name, value in headers:
        request.add_header(name, value)
    try:
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


MESSAGE = json.dumps({"model": "m", "max_tokens": 5,
                      "messages": [{"role": "user", "content": "hi"}]}).encode()  # fmt: skip
opened = ["tried"]
for path in ("/proctor/v1/ledger", "/proctor/v1/bills/x/1", "/proctor/v1/runs/x",
             "/proctor/v1/../v1/ledger", "/v1/messages/../../proctor/v1/ledger"):  # fmt: skip
    for method in ("GET", "POST", "PUT", "DELETE"):
        if ask(method, path, b"{}" if method != "GET" else None) < 400:
            opened.append(f"open {method} {path}")
judging = ask("POST", "/v1/messages", MESSAGE, [("x-proctor-role", "judge")])
opened.append(f"call {judging}")
with open("opened.txt", "w") as file:
    file.write("\n".join(opened))
