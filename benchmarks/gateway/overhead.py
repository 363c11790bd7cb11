"""What the gateway adds to a call, beside a bare pass-through and LiteLLM's proxy, in one run.

    python benchmarks/gateway/overhead.py [--seconds N] [--rounds N] [--without-litellm]

Client and fake provider are pinned to one core, the server that is measured to another. The servers
take turns; of each the round counts that cost least CPU, because what else the machine does only
adds. Prints a table and exits 1 when a goal is missed: at one client p50 at most 2 ms over a direct
call; at most 2.5 times the CPU of the bare pass-through and a tenth of LiteLLM's for a request.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from parts.servers import CLIENT_CORE, SERVER_CORE, Server, litellm, part

CLIENT = Path(__file__).parent / "parts" / "client.py"
CASES = (("whole", 1), ("whole", 16), ("stream", 1), ("stream", 16))
ADDED_MS, TIMES_BARE, PART_OF_LITELLM = 2.0, 2.5, 0.1


@dataclass(frozen=True, slots=True)
class Measured:
    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float


Case = Mapping[str, Measured]
"""By the server's name."""


def measure(server: Server, kind: str, clients: int, seconds: float) -> Measured:
    arguments = [str(server.port), server.key, kind, str(clients)]
    client = ["taskset", "-c", str(CLIENT_CORE), sys.executable, str(CLIENT), *arguments]
    subprocess.run([*client, str(min(1.0, seconds))], check=True, capture_output=True)
    before = server.cpu_seconds()
    output = subprocess.run([*client, str(seconds)], check=True, capture_output=True).stdout
    told = json.loads(output)
    cpu_ms = (server.cpu_seconds() - before) / told["requests"] * 1000
    return Measured(told["per_second"], told["p50_ms"], told["p99_ms"], cpu_ms)


def best(servers: Sequence[Server], kind: str, clients: int, seconds: float, rounds: int) -> Case:
    """Each server's round with the least CPU; they take turns, so that all see the same machine."""
    turns = [[measure(one, kind, clients, seconds) for one in servers] for _ in range(rounds)]
    return {
        server.name: min(of_server, key=lambda measured: measured.cpu_ms)
        for server, *of_server in zip(servers, *turns, strict=True)
    }


def table(results: Mapping[tuple[str, int], Case]) -> str:
    lines = [
        "| answer | clients | server | requests/s | p50 ms | p99 ms | added p50 | p99 | CPU ms |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (kind, clients), servers in results.items():
        direct = servers["direct"]
        for name, m in servers.items():
            added = (m.p50_ms - direct.p50_ms, m.p99_ms - direct.p99_ms)
            figures = (m.per_second, m.p50_ms, m.p99_ms, *added, m.cpu_ms)
            shown = " | ".join(f"{figure:.{0 if figure > 99 else 2}f}" for figure in figures)
            lines.append(f"| {kind} | {clients} | {name} | {shown} |")
    return "\n".join(lines)


def missed(results: Mapping[tuple[str, int], Case]) -> list[str]:
    said = []
    for (kind, clients), servers in results.items():
        ours, bare, direct = (servers[n] for n in ("gateway", "passthrough", "direct"))
        if clients == 1 and ours.p50_ms - direct.p50_ms > ADDED_MS:
            said.append(f"{kind}: {ours.p50_ms - direct.p50_ms:.2f} ms are added")
        if ours.cpu_ms > TIMES_BARE * bare.cpu_ms:
            said.append(f"{kind}, {clients}: {ours.cpu_ms / bare.cpu_ms:.2f} times the bare CPU")
        other = servers.get("litellm")
        if other is not None and ours.cpu_ms > PART_OF_LITELLM * other.cpu_ms:
            said.append(f"{kind}, {clients}: {ours.cpu_ms / other.cpu_ms:.3f} of LiteLLM's CPU")
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--rounds", type=int, default=4, help="measurements of each server")
    parser.add_argument("--without-litellm", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream = stack.enter_context(part("upstream", CLIENT_CORE))
        url = f"http://127.0.0.1:{upstream.port}"
        servers = [
            Server("direct", upstream.port, "none"),
            stack.enter_context(part("passthrough", SERVER_CORE, url)),
            stack.enter_context(part("gateway", SERVER_CORE, url)),
        ]
        if not options.without_litellm:
            servers.append(stack.enter_context(litellm(url, folder)))
        results = {
            (kind, clients): best(servers, kind, clients, options.seconds, options.rounds)
            for kind, clients in CASES
        }
        print(table(results))
        print(", ".join(f"{s.name} {s.memory_mb():.0f} MB" for s in servers if s.pids))
    failures = missed(results)
    print("\n".join(f"MISSED {failure}" for failure in failures) or "all goals are met")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
