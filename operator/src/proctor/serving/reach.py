"""``python -m proctor.serving.reach URL…``: whether every server answers 200, for ``helm test``."""

import argparse
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence

_PAUSE_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
# Of an environment that sends everything through a proxy nothing is taken over.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each address; 1 when one of them was not ready in time."""
    parser = argparse.ArgumentParser(prog="python -m proctor.serving.reach")
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--seconds", type=float, default=30.0, help="for all of them together")
    parsed = parser.parse_args(argv)
    until = time.monotonic() + parsed.seconds
    problems = {url: _problem(url, until) for url in parsed.urls}
    for url, problem in problems.items():
        print(f"{url}: {problem or 'ready'}")
    return 1 if any(problems.values()) else 0


def _problem(url: str, until: float) -> str | None:
    """What is wrong at ``until``, a monotonic time; None as soon as nothing is."""
    while (problem := _asked(url)) is not None and time.monotonic() < until:
        time.sleep(_PAUSE_SECONDS)
    return problem


def _asked(url: str) -> str | None:
    try:
        with _OPENER.open(url, timeout=_ANSWER_SECONDS) as answer:
            return None if answer.status == 200 else f"answers {answer.status}"
    except urllib.error.HTTPError as error:
        with error:
            return f"answers {error.code}: {error.read(200).decode(errors='replace').strip()}"
    except OSError as error:
        return f"cannot be reached: {error}"


if __name__ == "__main__":
    sys.exit(main())
