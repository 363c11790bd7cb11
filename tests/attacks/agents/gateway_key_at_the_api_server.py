import os
import ssl
import urllib.error
import urllib.request

context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
host = os.environ.get("KUBERNETES_SERVICE_HOST", "10.96.0.1")
opened = ["tried"]
for key in (os.environ["ANTHROPIC_API_KEY"], None):
    for path in ("/api/v1/pods", "/api/v1/secrets", "/apis/proctor.dev/v1alpha1/evalruns", "/api",
                 "/api/v1/namespaces/default/configmaps"):  # fmt: skip
        request = urllib.request.Request(f"https://{host}:443{path}")
        if key:
            request.add_header("authorization", f"Bearer {key}")
        try:
            urllib.request.urlopen(request, timeout=3, context=context)
            opened.append(f"open {path}")
        except OSError as error:
            print(path, error)
with open("opened.txt", "w") as file:
    file.write("\n".join(opened))
