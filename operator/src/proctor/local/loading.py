"""Paths of the command line → runs that are ready to start, or all that is wrong with them."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from proctor.api.errors import Problem, SpecError, UserError
from proctor.local.cassette import check_recording, replayed_text
from proctor.local.containers import machine_problems
from proctor.local.overrides import Flags, with_flags
from proctor.local.planned import PlannedRun
from proctor.local.salvage import further_problems
from proctor.local.script import script_text
from proctor.local.source_file import read_source
from proctor.local.sources import Sources, read_sources
from proctor.planning.config_maps import named_config_maps
from proctor.planning.model import RunSource
from proctor.planning.plan import plan_run
from proctor.plugins.builtin import builtin_registry
from proctor.pricing.prices import is_priced


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the paths hold.

    Args:
        problems: Everything that is wrong; empty when all runs can start.
        warnings: What is tolerated.
        sources: The runs as they were written, also those that cannot start.
    """

    runs: tuple[PlannedRun, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    sources: tuple[RunSource, ...] = ()

    @property
    def trials(self) -> int:
        """How many trials the runs have together."""
        return sum(len(run.plan.trials) for run in self.runs)


@dataclass(slots=True)
class _Loading:
    sources: Sources
    flags: Flags
    prepared: Callable[[RunSource], RunSource]
    runs: list[PlannedRun] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def take(self, source: RunSource) -> None:
        """Plan one run; what is wrong with it is added to the problems."""
        try:
            flagged = with_flags(self.prepared(source), self.flags)
            self.runs.append(plan(flagged, self.sources, self.flags))
        except SpecError as error:
            self.problems += error.problems


def examine(paths: Sequence[Path], flags: Flags) -> Loaded:
    """Load everything, and collect all problems of all files."""
    return examine_sources(read_sources(paths), flags)


def examine_sources(
    sources: Sources,
    flags: Flags,
    prepared: Callable[[RunSource], RunSource] = lambda source: source,
) -> Loaded:
    """Plan what was read, each run as ``prepared`` gives it, and collect all problems."""
    loading = _Loading(sources, flags, prepared, problems=list(sources.problems))
    for source in sources.runs:
        loading.take(source)
    for file, (text, found) in sources.unread.items():
        loading.problems += further_problems(
            text, file, found, lambda source: plan(prepared(source), sources, flags)
        )
    loading.problems += _same_names(sources.runs)
    return Loaded(
        tuple(loading.runs),
        tuple(dict.fromkeys(loading.problems)),
        tuple(sources.warnings),
        tuple(sources.runs),
    )


def load_runs(
    paths: Sequence[Path], flags: Flags, *, contained: bool = False, image_user: bool = False
) -> Loaded:
    """Load everything, to run it on this machine, in containers or without.

    ``image_user``: containers may run as what their image says.

    Raises:
        SpecError: With all problems, when there is any.
        UserError: When there is nothing to run.
    """
    loaded = examine(paths, flags)
    here = [
        problem for run in loaded.runs for problem in _problems_here(run, contained, image_user)
    ]
    if loaded.problems or here:
        raise SpecError((*loaded.problems, *here))
    if not loaded.runs:
        raise UserError("these paths hold no run: no EvalRun, and no task that is not skipped")
    return replace(loaded, runs=tuple(replace(run, contained=contained) for run in loaded.runs))


def plan(source: RunSource, sources: Sources, flags: Flags) -> PlannedRun:
    """Plan one run, its script or cassette included.

    Raises:
        SpecError: With all problems of this run.
    """
    source = replace(source, config_maps=held_config_maps(source, sources))
    problems = list[Problem]()
    script = cassette = None
    try:
        script = script_text(source, sources.config_maps)
        cassette = replayed_text(source, sources.config_maps)
        check_recording(source)
    except SpecError as error:
        problems += error.problems
    try:
        made = plan_run(source, builtin_registry(), is_priced)
    except SpecError as error:
        raise SpecError([*error.problems, *problems]) from None
    if problems:
        raise SpecError(problems)
    return PlannedRun(source, made, script, _parallelism(source, flags), cassette)


def resumed_run(
    folder: Path, flags: Flags, *, contained: bool = False, image_user: bool = False
) -> PlannedRun:
    """Plan the run of a folder again, as it was asked for then.

    Raises:
        UserError: When the folder is not one of a run.
        SpecError: With all problems.
    """
    source, script, cassette = read_source(folder)
    flagged = with_flags(source, flags)
    made = plan_run(flagged, builtin_registry(), is_priced)
    run = PlannedRun(flagged, made, script, _parallelism(flagged, flags), cassette, contained)
    problems = _problems_here(run, contained, image_user)
    if problems:
        raise SpecError(problems)
    return run


def _problems_here(run: PlannedRun, contained: bool, image_user: bool) -> list[Problem]:
    found = machine_problems(run.source, run.plan, contained=contained, image_user=image_user)
    return list(found)


def held_config_maps(source: RunSource, sources: Sources) -> dict[str, dict[str, bytes]]:
    """What the ConfigMaps that the run's workspaces name hold, as far as the files have them."""
    names = {name for _, name in named_config_maps(source)} & sources.config_maps.keys()
    return {
        name: {key: text.encode() for key, text in sources.config_maps[name].items()}
        for name in names
    }


def _parallelism(source: RunSource, flags: Flags) -> int:
    """The flag's, else the spec's; one a CPU when neither says anything."""
    if flags.parallelism is not None:
        return flags.parallelism
    spec = source.spec
    written = "parallelism" in spec.model_fields_set
    return spec.parallelism if written else min(spec.parallelism, os.cpu_count() or 1)


def _same_names(runs: Sequence[RunSource]) -> list[Problem]:
    names = [run.name for run in runs]
    return [
        run.places.locate(
            Problem("metadata.name", f"two runs are called {run.name!r}", "rename one of them")
        )
        for index, run in enumerate(runs)
        if run.name in names[:index]
    ]
