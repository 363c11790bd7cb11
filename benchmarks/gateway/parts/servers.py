"""Starts the servers that are compared, each pinned to a core, and reads what they use."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PARTS = Path(__file__).parent
LITELLM_VERSION = "1.108.7"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proctor-benchmarks"
CLIENT_CORE, SERVER_CORE = (0, 1) if (os.cpu_count() or 1) > 1 else (0, 0)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """Something that answers Chat Completions.

    Args:
        pids: Its processes, whose CPU time is counted; empty: it is no proxy.
    """

    name: str
    port: int
    key: str
    pids: tuple[int, ...] = ()

    def cpu_seconds(self) -> float:
        return sum(_cpu_seconds(pid) for pid in self.pids)

    def memory_mb(self) -> float:
        return sum(_status_kb(pid, "VmRSS") for pid in self.pids) / 1024

    def open_files(self) -> int:
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids)


@contextmanager
def started(name: str, core: int, argv: Sequence[str]) -> Iterator[Server]:
    """A script of ours: its first line of output says where it listens."""
    pinned = [shutil.which("taskset") or "taskset", "-c", str(core), *argv]
    process = subprocess.Popen(pinned, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        yield Server(name, told["port"], told.get("key", "none"), (process.pid,))
    finally:
        process.kill()
        process.wait()


@contextmanager
def part(name: str, core: int, *arguments: str) -> Iterator[Server]:
    script = str(PARTS / f"{name}.py")
    with started(name, core, [sys.executable, script, *arguments]) as server:
        yield server


@contextmanager
def litellm(upstream: str, folder: Path) -> Iterator[Server]:
    """LiteLLM's proxy in an environment of its own, installed at the first use."""
    config = folder / "litellm.yaml"
    model = {"model": "openai/gpt-5", "api_base": f"{upstream}/v1", "api_key": "sk-fake"}
    entry = {"model_name": "gpt-5", "litellm_params": model}
    key = f"sk-{secrets.token_hex(32)}"
    settings = {"master_key": key}
    config.write_text(json.dumps({"model_list": [entry], "general_settings": settings}))
    port = _free_port()
    argv = ["taskset", "-c", str(SERVER_CORE), str(_litellm()), "--config", str(config)]
    options = ["--port", str(port), "--host", "127.0.0.1", "--num_workers", "1"]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LITELLM_LOG": "ERROR"}
    env["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    log = (folder / "litellm.log").open("wb")
    process = subprocess.Popen([*argv, *options], env=env, cwd=folder, stdout=log, stderr=log)
    try:
        _wait(f"http://127.0.0.1:{port}/health/liveliness", process)
        yield Server("litellm", port, key, (process.pid,))
    finally:
        process.kill()
        process.wait()


def _litellm() -> Path:
    folder = CACHE / f"litellm-{LITELLM_VERSION}"
    command = folder / "bin" / "litellm"
    if not command.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        wanted = f"litellm[proxy]=={LITELLM_VERSION}"
        subprocess.run([folder / "bin" / "pip", "install", "-q", wanted], check=True)
    return command


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert process.poll() is None, "LiteLLM ended before it listened"
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.3)
    raise TimeoutError(url)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _status_kb(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
