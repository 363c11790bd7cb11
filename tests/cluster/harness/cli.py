"""The command line: reads it and hands over to ``commands``."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cluster.harness import commands
from cluster.harness.binaries import OPTIONAL
from cluster.harness.commands import Context
from cluster.harness.errors import HarnessError
from cluster.harness.foreign import foreign_kubeconfig
from cluster.harness.paths import State, cache_folder
from cluster.harness.preflight import search_path

DESCRIPTION = """\
A real Kubernetes node on a bare Debian machine, in namespaces of its own.

First time:  install, build (10 minutes), up
Then:        kubectl get nodes | load-image FILE.tar | exec -- pytest tests/cluster
At the end:  down (leaves nothing behind)
"""
EPILOG = """\
environment:
  PROCTOR_TEST_CLUSTER_STATE  folder of this cluster; another folder is another cluster
  PROCTOR_TEST_CLUSTER_CACHE  folder of the binaries (~/.cache/proctor-test-cluster)
  KUBECONFIG                  your own cluster: up and down then do nothing, kubectl, helm and exec
                              use it, and load-image pushes to PROCTOR_TEST_REGISTRY
"""
PASSED_ON = {
    "kubectl": "run kubectl against the cluster",
    "helm": "run helm against the cluster",
    "exec": "run a command in the cluster's network, with KUBECONFIG set",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = parse(sys.argv[1:] if argv is None else argv)
    state = State.from_environ(os.environ)
    own = foreign_kubeconfig(os.environ, state)
    context = Context(state, cache_folder(os.environ), own, arguments)
    os.environ["PATH"] = search_path()
    try:
        run: Callable[[Context], int] = arguments.run
        return run(context)
    except HarnessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; what follows ``kubectl``, ``helm`` or ``exec`` is not looked into."""
    parser = _parser()
    if not argv or argv[0] not in PASSED_ON:
        return parser.parse_args(argv)
    if argv[0] == "exec" and argv[1:2] in (["-h"], ["--help"]):
        return parser.parse_args(argv)
    arguments = parser.parse_args(argv[:1])
    rest = list(argv[2:] if argv[1:2] == ["--"] else argv[1:])
    arguments.rest = rest if argv[0] == "exec" else [argv[0], *rest]
    return arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python tests/cluster/harness",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[Context], int], text: str) -> argparse.ArgumentParser:
        command = found.add_parser(name, help=text, description=text)
        command.set_defaults(run=run, extras=[], rest=[])
        return command

    add("install", commands.install, "install Debian's packages, and Go when it is missing")
    for name, run, text in (
        ("build", commands.build, "build the binaries that the cache lacks"),
        ("up", commands.up, "start the cluster; a healthy one stays as it is"),
        ("supervise", commands.supervise, "internal: process 1 of the cluster's namespaces"),
    ):
        command = add(name, run, text)
        command.add_argument(
            "--with",
            dest="extras",
            action="append",
            choices=sorted(OPTIONAL),
            help="an optional component too; may be given more than once",
        )
    add("down", commands.down, "end the cluster and remove all that it left")
    add("status", commands.status, "tell how the cluster is; exit code 0 when it is healthy")
    add("kubeconfig", commands.kubeconfig, "print the path of the kubeconfig, which exec sets")
    load = add("load-image", commands.load_image, "load docker-archives or oci-archives")
    load.add_argument("archive", nargs="+", type=Path)
    logs = add("logs", commands.logs, "list the logs, or print a component's")
    logs.add_argument("component", nargs="?")
    for name, text in PASSED_ON.items():
        add(name, commands.execute, text)
    return parser
