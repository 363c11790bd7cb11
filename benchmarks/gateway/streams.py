"""1,000 streams at once through the gateway: how much memory they take, and that all of them end.

    python benchmarks/gateway/streams.py [--count N]

Exits 1 when a stream takes more than 100 kB, or when one does not come whole.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from parts.servers import CLIENT_CORE, SERVER_CORE, Server, part

HOLDING = Path(__file__).parent / "parts" / "holding.py"
MOST_KB = 100.0


def held(gateway: Server, upstream: Server, count: int) -> tuple[float, int]:
    """Memory in MB while all streams are open, and how many of them came whole."""
    arguments = [str(gateway.port), gateway.key, str(upstream.port), str(count)]
    client = subprocess.Popen(
        ["taskset", "-c", str(CLIENT_CORE), sys.executable, str(HOLDING), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdin is not None
    assert client.stdout is not None
    assert client.stdout.readline() == "begun\n"
    memory = gateway.memory_mb()
    client.stdin.close()
    whole = json.loads(client.stdout.readline())["whole"]
    client.wait()
    return memory, whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    count = parser.parse_args().count
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8 * count + 256), most))
    with (
        part("upstream", CLIENT_CORE) as upstream,
        part("gateway", SERVER_CORE, f"http://127.0.0.1:{upstream.port}") as gateway,
    ):
        held(gateway, upstream, 10)
        before = gateway.memory_mb()
        during, whole = held(gateway, upstream, count)
        each_kb = (during - before) * 1024 / count
        again, whole_again = held(gateway, upstream, count)
        print(f"idle {before:.0f} MB, with {count} streams {during:.0f} MB: {each_kb:.1f} kB each")
        print(f"{whole} of {count} came whole; a second time {whole_again}, with {again:.0f} MB")
    good = each_kb <= MOST_KB and whole == whole_again == count
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
