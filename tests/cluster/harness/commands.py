"""What each command does: joins the modules that know, and reports in lines."""

import argparse
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from cluster.harness import binaries, clients, foreign, images, lifecycle, namespaces
from cluster.harness import install as installation
from cluster.harness import supervisor as supervision
from cluster.harness.errors import HarnessError
from cluster.harness.paths import State


@dataclass(frozen=True, slots=True)
class Context:
    """What every command works with: folders, and the person's own kubeconfig if any."""

    state: State
    cache: Path
    foreign: str | None
    arguments: argparse.Namespace

    @property
    def extras(self) -> tuple[str, ...]:
        """Optional components that the command line names."""
        return tuple(self.arguments.extras)


def install(context: Context) -> int:
    """Install what the machine lacks."""
    installation.install(context.cache, report)
    return 0


def build(context: Context) -> int:
    """Build and fetch what the cache lacks."""
    wanted = binaries.sets_with(context.extras)
    for binary_set in binaries.missing_sets(wanted, context.cache):
        binaries.build(binary_set, context.cache, installation.require_go(context.cache), report)
    if not clients.clients_folder(context.cache).is_dir():
        clients.fetch_clients(context.cache, report)
    report(f"all is built: {context.cache}")
    return 0


def up(context: Context) -> int:
    """Start the cluster."""
    if not _is_foreign(context, "up"):
        lifecycle.up(context.state, context.cache, context.extras, report)
    return 0


def down(context: Context) -> int:
    """End the cluster."""
    if not _is_foreign(context, "down"):
        lifecycle.down(context.state, context.cache, report)
    return 0


def status(context: Context) -> int:
    """Tell how the cluster is."""
    if _is_foreign(context, "status"):
        return 0
    line, is_healthy = lifecycle.status(context.state)
    report(line)
    return 0 if is_healthy else 1


def kubeconfig(context: Context) -> int:
    """Print where the kubeconfig is."""
    report(str(context.foreign or context.state.kubeconfig))
    return 0


def supervise(context: Context) -> int:
    """Be process 1 of the cluster's namespaces."""
    found = binaries.find_binaries(binaries.sets_with(context.extras), context.cache)
    return supervision.supervise(context.state, found, context.extras)


def load_image(context: Context) -> int:
    """Bring image archives to where the cluster finds them."""
    for archive in context.arguments.archive:
        if context.foreign is None:
            images.load_image(context.state, archive, report)
        else:
            foreign.push_image(archive, os.environ, report)
    return 0


def logs(context: Context) -> int:
    """List the logs, or print one."""
    folder = context.state.logs
    names = sorted(path.stem for path in folder.glob("*.log"))
    wanted = context.arguments.component
    if wanted is None:
        report("\n".join(names) or f"no logs: no cluster with state {context.state.root}")
        return 0
    if wanted not in names:
        raise HarnessError(f"no log of {wanted!r} in {folder}; there are: {', '.join(names)}")
    with (folder / f"{wanted}.log").open(errors="replace") as log:
        shutil.copyfileobj(log, sys.stdout)
    return 0


def execute(context: Context) -> int:
    """Become a command in the cluster's network, or beside a person's own cluster."""
    command = context.arguments.rest
    if not command:
        raise HarnessError("exec: no command; write for instance `exec -- pytest tests/cluster`")
    folder = clients.clients_folder(context.cache)
    if context.foreign is not None:
        return namespaces.replace_process(command, foreign.environment(folder, os.environ))
    environment = namespaces.environment(context.state, folder, os.environ)
    argv = namespaces.in_network(context.state, command)
    return namespaces.replace_process(argv, environment)


def report(line: str) -> None:
    """Print a line at once, so that progress shows through pipes."""
    print(line, flush=True)


def _is_foreign(context: Context, command: str) -> bool:
    if context.foreign is None:
        return False
    report(f"{command}: nothing done, KUBECONFIG={context.foreign} is a cluster of your own")
    return True
