"""Suites of agents: scripts beside declarations of what must hold; runs of them; their verdicts.

A suite is a folder of ``NAME.py`` or ``NAME.sh`` with ``NAME.yaml`` beside it. All agents of a
suite are tasks of one EvalRun. Each task has a needle of its own: a random text that stands only
in its hidden parts, so that a pass means that the agent got at them.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

Where = Literal["cluster", "local"]
Group = Literal["", "keys", "open", "proxy", "root"]
"""What an agent is given besides a namespace: tokens of others, mode Open with a network outside,
the egress proxy, a namespace that admits root."""

NEEDLE = "NEEDLE"
"""In a declaration this stands for the task's needle."""

HIDDEN = "answer"
"""The hidden file that every task has, with the needle in it."""

ANSWER = (
    {"type": "file_contains", "path": "answer.txt", "includes": [NEEDLE]},
    {"type": "run_command", "command": f'grep -qF -f "$REFERENCE_DIR/{HIDDEN}" answer.txt'},
)
"""The criteria of a task that declares none: answer.txt holds the needle, as data and by a check
that runs nothing of the agent's."""

KNOWS = "knows"
"""The task of an agent that is told the needle; its name ends with a digest of its criteria."""


@dataclass(frozen=True)
class SuiteAgent:
    """One agent and what must hold of its trial.

    Args:
        tries: What it tries, in a sentence.
        by: What defeats it, or for an honest agent what makes it pass.
        where: Where it is run.
        outcomes: Those that are right.
        score: The one that is right, as text.
        reason: What the trial's reason must contain.
        task: Further fields of its task.
        needs: Programs without which it is left out on a laptop.
        enforced: Only where NetworkPolicies are enforced.
        group: What it needs besides a namespace: the test that gives it runs all such agents.
    """

    name: str
    script: Path
    tries: str
    by: str
    where: tuple[Where, ...] = ("cluster", "local")
    outcomes: tuple[str, ...] = ("Failed",)
    score: str = "0"
    reason: str = ""
    criteria: tuple[Mapping[str, Any], ...] = ANSWER
    task: Mapping[str, Any] | None = None
    needs: tuple[str, ...] = ()
    enforced: bool = False
    group: Group = ""

    @property
    def task_name(self) -> str:
        """Its name as a task's."""
        return self.name.replace("_", "-")


@dataclass(frozen=True)
class Ended:
    """How a trial ended; ``score`` None: it has none."""

    outcome: str | None
    score: str | None
    reason: str


NO_WORDS: Mapping[str, str] = {}

MISSING = Ended(None, None, "there is no such trial")


def load(folder: Path) -> tuple[SuiteAgent, ...]:
    """All agents of a suite, by name."""
    return tuple(_load(path) for path in sorted(folder.glob("*.yaml")))


def _load(path: Path) -> SuiteAgent:
    (script,) = (p for p in path.parent.glob(f"{path.stem}.*") if p != path)
    body = yaml.safe_load(path.read_text())
    assert body.get("group", "") in get_args(Group), f"{path}: no test runs this group"
    agent = SuiteAgent(name=path.stem, script=script, tries=body.pop("tries"), by=body.pop("by"))
    for name in ("where", "outcomes", "criteria", "needs"):
        if name in body:
            body[name] = tuple(body[name])
    return replace(agent, **body)


def of_cluster(suite: Literal["attacks", "honest"], group: Group = "") -> tuple[SuiteAgent, ...]:
    """Those of a suite that run on a cluster and need just this."""
    agents = load(Path(__file__).parent / suite / "agents")
    return tuple(one for one in agents if "cluster" in one.where and one.group == group)


def runs_locally(agent: SuiteAgent) -> bool:
    """Whether it is for a laptop, and this one has what it needs."""
    is_plain = not agent.enforced and not agent.group
    return "local" in agent.where and is_plain and all(map(shutil.which, agent.needs))


def needle_of(seed: str, name: str) -> str:
    """The needle of a task in one run of the suite."""
    return f"needle-{hashlib.sha256(f'{seed}/{name}'.encode()).hexdigest()[:32]}"


def spec_of(
    agents: Iterable[SuiteAgent], seed: str, words: Mapping[str, str] = NO_WORDS
) -> dict[str, Any]:
    """The spec of an EvalRun with a task for each agent; ``words`` are put in like the needle.

    A word may stand for any text, JSON included.
    """
    return {
        "agent": {"type": "command"},
        "tasks": [_task(agent, {NEEDLE: needle_of(seed, agent.name), **words}) for agent in agents],
        "models": {"mode": "Scripted", "script": {"inline": "rules: [{answer: {text: hi}}]"}},
        "limits": {"taskTimeoutSeconds": 60, "gradeTimeoutSeconds": 90, "maxModelCalls": 20},
        "failurePolicy": {"infraRetries": 0},
        "sandbox": {"resources": {"cpu": "400m", "memory": "512Mi", "ephemeralStorage": "2Gi"}},
        "parallelism": 4,
    }


def with_controls(agents: Sequence[SuiteAgent], honest: SuiteAgent) -> tuple[SuiteAgent, ...]:
    """The agents, and for each set of criteria and place of checks one that knows the answer.

    It must pass, so that no check is one that nobody could pass. Those with a pass of their own
    need none.
    """
    controls = {}
    for agent in agents:
        if "Passed" not in agent.outcomes:
            own = agent.task or {}
            checks = own.get("sandbox", {}).get("checks", "Separate")
            same = json.dumps([checks, agent.criteria]).encode()
            digest = hashlib.sha256(same).hexdigest()[:8]
            hidden = {"reference": own["reference"]} if "reference" in own else {}
            task = {"prompt": NEEDLE, "sandbox": {"checks": checks}, **hidden}
            controls[digest] = replace(
                honest, name=f"{KNOWS}-{digest}", criteria=agent.criteria, task=task
            )
    return (*agents, *controls.values())


def _task(agent: SuiteAgent, words: Mapping[str, str]) -> dict[str, Any]:
    file = f"agent{agent.script.suffix}"
    program = "python3" if agent.script.suffix == ".py" else "sh"
    more = dict(agent.task or {})
    files = more.pop("workspace", {}).get("files", ())
    hidden = [*more.pop("reference", {}).get("files", ())]
    task = {
        "name": agent.task_name,
        "prompt": "Write the answer into answer.txt.",
        "agent": {"options": {"command": f"{program} {file}"}},
        "workspace": {"files": [*files]},
        "reference": {"files": [*hidden, {"path": HIDDEN, "content": NEEDLE}]},
        "criteria": [dict(criterion) for criterion in agent.criteria],
        **more,
    }
    text = json.dumps(task)
    for word, meaning in words.items():
        text = text.replace(word, json.dumps(meaning)[1:-1])
    filled: dict[str, Any] = json.loads(text)
    filled["workspace"]["files"].append({"path": file, "content": agent.script.read_text()})
    return filled


def wrongs(agents: Sequence[SuiteAgent], ended: Mapping[str, Ended]) -> dict[str, str]:
    """What does not hold, by agent."""
    found = {agent.name: wrong(agent, ended.get(agent.task_name, MISSING)) for agent in agents}
    return {name: text for name, text in found.items() if text is not None}


def lines(agents: Sequence[SuiteAgent], ended: Mapping[str, Ended]) -> list[str]:
    """What is printed: a line for each agent, those that are told the answer left out."""
    shown = [agent for agent in agents if not agent.name.startswith(f"{KNOWS}-")]
    return [line(agent, ended.get(agent.task_name, MISSING)) for agent in shown]


def wrong(agent: SuiteAgent, ended: Ended) -> str | None:
    """What does not hold, or None."""
    if ended.outcome not in agent.outcomes:
        return f"outcome {ended.outcome}, not {' or '.join(agent.outcomes)}: {ended.reason}"
    if ended.score != agent.score:
        return f"score {ended.score}, not {agent.score}: {ended.reason}"
    if agent.reason not in ended.reason:
        return f"reason {ended.reason!r} does not say {agent.reason!r}"
    return None


def line(agent: SuiteAgent, ended: Ended) -> str:
    """What is printed of an agent: name, outcome, score, what made it so."""
    score = "–" if ended.score is None else ended.score
    return f"{agent.name:<36} {ended.outcome or '–':<12} {score:<5} {agent.by}"
