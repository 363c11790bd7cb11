"""Services beside an agent: reached by name, with state that lasts, and nothing of ours in them."""

from cluster.kube import a_command_run, the_trial

KEEPER = """
import http.server, os
kept = {"text": "nothing"}
class Keeper(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        kept["text"] = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.do_GET()
    def do_GET(self):
        text = " ".join(sorted(os.listdir("/"))) if self.path == "/ls" else kept["text"]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{text}\\n".encode())
http.server.HTTPServer(("", 8000), Keeper).serve_forever()
"""
SMALL = {"cpu": "100m", "memory": "128Mi", "ephemeralStorage": "100Mi"}


def with_service(images, command, *criteria, **service):
    keeper = {
        "name": "keeper",
        "image": images["default"],
        "port": 8000,
        "command": ["python3", "-c", KEEPER],
        "resources": SMALL,
        **service,
    }
    return a_command_run(command, *criteria, sandbox={"services": [keeper]})


def test_the_agent_finds_a_service_by_name_and_checks_see_what_it_left_there(kube, images):
    spec = with_service(
        images,
        "curl -s -d forty-two http://keeper:8000/ > answer; curl -s http://keeper:8000/ls > seen",
        {"type": "file_contains", "path": "answer", "includes": ["forty-two"]},
        {"type": "file_contains", "path": "seen", "excludes": ["proctor", "workspace", "frozen"]},
        {
            "type": "run_command",
            "command": "curl -s http://localhost:8000/",
            "expectedStdout": "forty-two",
        },
    )
    status = the_trial(kube, "keeper", spec)
    assert status["outcome"] == "Passed", status


def test_a_service_that_never_answers_ends_the_trial_by_name(kube, images):
    spec = with_service(images, "true", {"type": "file_exists", "path": "x"}, readyTimeoutSeconds=3)
    (keeper,) = spec["tasks"][0]["sandbox"]["services"]
    keeper["command"] = ["sleep", "600"]
    status = the_trial(kube, "silent", spec)
    assert status["outcome"] == "InfraFailed"
    assert "ServiceNotReady" in status["reason"]
    assert "keeper" in status["reason"]
