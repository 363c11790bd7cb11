"""Is given tokens by name, and where to try them; each must be refused everywhere."""

import json
import os
import ssl
import sys
import urllib.error
import urllib.request

given = json.loads(sys.stdin.read())
gateway, own = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_API_KEY"]
blind = ssl.create_default_context()
blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
CALL = json.dumps({"model": "m", "max_tokens": 5,
                   "messages": [{"role": "user", "content": "hi"}]}).encode()  # fmt: skip
RECORD = f"/proctor/v1/records/{'0' * 64}"
NAMESPACE = given["namespace"]


def asked(url, token, body=None, method=None):
    request = urllib.request.Request(url, body, method=method)
    for name, value in (("authorization", f"Bearer {token}"), ("x-proctor-token", token),
                        ("content-type", "application/json")):  # fmt: skip
        request.add_header(name, value)
    try:
        return urllib.request.urlopen(request, timeout=5, context=blind).status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return "shut"


def tries(token):
    yield "gateway", asked(f"{gateway}/v1/messages", token, CALL)
    yield "ledger", asked(f"{gateway}/proctor/v1/ledger", token)
    yield "upload", asked(f"http://{given['upload']}{RECORD}", token, b'{"parts": []}', "PUT")
    records = f"/proctor/v1/namespaces/{NAMESPACE}/records"
    yield "read", asked(f"http://{given['read']}{records}", token)
    yield "api", asked(f"https://{given['api']}/api/v1/namespaces/{NAMESPACE}/pods", token)


opened = ["tried", f"own {asked(f'{gateway}/v1/messages', own, CALL)}"]
for name, token in sorted(given["tokens"].items()):
    for place, status in tries(token):
        is_open = status != "shut" and status not in (401, 403)
        opened.append(f"{'open' if is_open else 'refused'} {name} {place} {status}")
with open("opened.txt", "w") as file:
    file.write("\n".join(opened))
print("\n".join(opened))
