"""What an honest agent does in its HOME must still be there when it is checked."""

import base64
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import yaml

from cluster.kube import a_command_run, an_evalrun


def a_wheel():
    """A package that pip installs without an index."""
    name = "tinytool-1.0"
    files = {
        "tinytool.py": "ANSWER = 42\n",
        f"{name}.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinytool\nVersion: 1.0\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}.dist-info/RECORD": "",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return base64.b64encode(buffer.getvalue()).decode()


def installs():
    install = (
        "mkdir -p $HOME/bin; printf '#!/bin/sh\\necho tool works\\n' > $HOME/bin/tool; "
        "chmod +x $HOME/bin/tool; pip install --no-index ./tinytool-1.0-py3-none-any.whl"
    )
    return a_command_run(
        install,
        {"type": "run_command", "command": "$HOME/bin/tool", "expectedStdout": "tool works"},
        {
            "type": "run_command",
            "command": "python3 -c 'import tinytool; print(tinytool.ANSWER)'",
            "expectedStdout": "42",
        },
        workspace={
            "files": [{"path": "tinytool-1.0-py3-none-any.whl", "contentBase64": a_wheel()}]
        },
    )


def test_a_tool_under_home_and_a_pip_package_pass_on_the_cluster(kube):
    kube.run("installs", installs())
    run = kube.finished("installs")
    (trial,) = kube.trials("installs")
    assert run["status"]["trials"]["passed"] == 1, trial["status"]


def test_and_locally(tmp_path):
    manifest = tmp_path / "installs.yaml"
    manifest.write_text(yaml.safe_dump(an_evalrun("installs", installs())))
    result = subprocess.run(
        [
            Path(sys.executable).with_name("proctor"),
            "run",
            manifest,
            "--json",
            "--output",
            tmp_path / "r",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert [trial["outcome"] for trial in json.loads(result.stdout)["trials"]] == ["Passed"]
