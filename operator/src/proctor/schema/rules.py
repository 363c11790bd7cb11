"""What pydantic's schema cannot say: rules in CEL, and which lists are maps.

A rule stands at the smallest object that it speaks of: its cost is multiplied by the `maxItems` of
every list around it. Rules of tasks as a whole stand at the spec, where one pass sees all of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from proctor.api.evalrun import MAX_RUN_NAME, MUTABLE, EvalRunSpec
from proctor.planning.repositories import COMMIT_PATTERN, URL_PATTERN
from proctor.schema.structural import Node


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL expression that must hold, and what to tell who broke it."""

    rule: str
    message: str

    def to_json(self) -> Node:
        """Write it for the CRD."""
        return {"rule": self.rule, "message": self.message}


def _same(field: str) -> str:
    new, old = f"self.spec.{field}", f"oldSelf.spec.{field}"
    return f"has({new}) == has({old}) && (!has({new}) || {new} == {old})"


def _immutable() -> Rule:
    fields = EvalRunSpec.model_fields.items()
    frozen = [str(field.alias or name) for name, field in fields if name not in MUTABLE]
    same = " && ".join(f"({_same(field)})" for field in frozen)
    return Rule(
        f"!has(oldSelf.status) || !has(oldSelf.status.startTime) || ({same})",
        "the run has started: only suspend, cancelled, parallelism and ttlSecondsAfterFinished may "
        "change; apply it under a new name to run it again",
    )


def _no_way_up(field: str, place: str = "folder", *, optional: bool = False) -> Rule:
    """A path that stays below ``place``; an ``optional`` one may be absent."""
    way = f"self.{field}"
    stays = (
        f"{way} != '..' && !{way}.startsWith('../') && !{way}.contains('/../') && "
        f"!{way}.endsWith('/..')"
    )
    return Rule(
        f"!has({way}) || ({stays})" if optional else stays,
        f"{field} may not lead out of the {place}: write it without `..`",
    )


ROOT_RULES: Mapping[str, tuple[Rule, ...]] = {
    "EvalRun": (
        Rule(
            f"size(self.metadata.name) <= {MAX_RUN_NAME}",
            f"metadata.name may have at most {MAX_RUN_NAME} characters: names of pods are made of "
            "it; shorten it",
        ),
        _immutable(),
    ),
    "EvalTrial": (
        Rule(
            "!has(oldSelf.status) || !has(oldSelf.status.outcome) || "
            "(has(self.status) && has(self.status.outcome) && "
            "self.status.outcome == oldSelf.status.outcome && "
            "has(self.status.score) == has(oldSelf.status.score) && "
            "(!has(self.status.score) || self.status.score == oldSelf.status.score))",
            "the outcome and score of a trial are set once and never change",
        ),
    ),
}

RULES: Mapping[str, tuple[Rule, ...]] = {
    "EvalRunSpec": (
        Rule(
            "has(self.tasks) || has(self.tasksFrom)",
            "a run needs tasks: write tasks, or name a bundle in tasksFrom",
        ),
        Rule(
            "(has(self.criteria) && size(self.criteria) > 0) || !has(self.tasks) || "
            "self.tasks.all(t, has(t.criteria) && size(t.criteria) > 0)",
            "every task needs criteria: add at least one to the task or to spec.criteria",
        ),
        Rule(
            "(has(self.criteria) && self.criteria.exists(c, c.weight > 0.0)) || "
            "!has(self.tasks) || self.tasks.all(t, !has(t.criteria) || size(t.criteria) == 0 || "
            "t.criteria.exists(c, c.weight > 0.0))",
            "the criteria of a task all have weight 0, so it would pass unchecked: give one of "
            "them a weight above 0",
        ),
        Rule(
            "(has(self.agent) && has(self.agent.type)) || !has(self.tasks) || "
            "self.tasks.all(t, has(t.agent) && has(t.agent.type)) || "
            "(has(self.variants) && size(self.variants) > 0 && "
            "self.variants.all(v, has(v.agent) && has(v.agent.type)))",
            "no agent is named: set spec.agent.type",
        ),
    ),
    "WorkspaceFile": (
        Rule(
            "has(self.content) != has(self.contentBase64)",
            "a file needs exactly one of content and contentBase64",
        ),
        _no_way_up("path"),
    ),
    "GitRepository": (
        Rule(
            "self.url.startsWith('https://') && !self.url.contains('@')",
            "a repository is read by https, without a user name or password in the URL: name a "
            "Secret in secretRef",
        ),
        Rule(
            f"self.url.matches('{URL_PATTERN}')",
            "url is not that of a repository: write https://HOST/PATH, with the host's full name "
            "in lower case and no address",
        ),
        Rule(
            f"self.commit.matches('{COMMIT_PATTERN}')",
            "commit is the full id, 40 of 0-9 and a-f: branches and tags move while trials run; "
            "`git ls-remote URL REF` tells the id",
        ),
        _no_way_up("path", "repository", optional=True),
    ),
    "Workspace": (
        Rule(
            "!has(self.git) || !has(self.image)",
            "a workspace starts from one of git and image: keep one; files are laid over both",
        ),
    ),
    "PromptOverlay": (
        Rule(
            "!has(self.text) || (!has(self.prefix) && !has(self.suffix))",
            "text replaces the prompt: give either text, or prefix and suffix",
        ),
    ),
    "Egress": (
        Rule(
            "(self.mode == 'AllowList') == (has(self.hosts) && size(self.hosts) > 0)",
            "hosts go with mode AllowList, and only with it: name at least one, or leave them out",
        ),
    ),
    "Script": (
        Rule(
            "has(self.inline) != has(self.configMap)",
            "a script comes from exactly one place: give inline or configMap",
        ),
    ),
    "Models": (
        Rule(
            "self.mode != 'Scripted' || has(self.script)",
            "mode Scripted needs a script: give script.inline or script.configMap",
        ),
        Rule(
            "self.mode == 'Scripted' || !has(self.script)",
            "only mode Scripted reads a script: set mode: Scripted, or remove the script",
        ),
        Rule(
            "self.mode in ['Record', 'Replay'] || !has(self.cassette)",
            "only Record and Replay use a cassette: set such a mode, or remove the cassette",
        ),
        Rule(
            "self.mode != 'Replay' || has(self.cassette)",
            "mode Replay needs a cassette: give cassette.configMap or cassette.volume",
        ),
        Rule(
            "self.mode != 'Record' || (has(self.cassette) && has(self.cassette.volume))",
            "mode Record needs a place on the gateway's volume: give cassette.volume.path",
        ),
    ),
    "Cassette": (
        Rule(
            "!has(self.file)",
            "a cluster reads no file of your machine: put it into a ConfigMap (configMap), or onto "
            "the gateway's volume (volume)",
        ),
        Rule(
            "has(self.configMap) != has(self.volume)",
            "a cassette stands in exactly one place: give configMap or volume",
        ),
    ),
    "CassetteVolume": (_no_way_up("path"),),
    "PodVolume": (
        Rule(
            "[has(self.emptyDir), has(self.configMap), has(self.secret), "
            "has(self.persistentVolumeClaim)].filter(given, given).size() == 1",
            "a volume needs exactly one of emptyDir, configMap, secret and persistentVolumeClaim",
        ),
    ),
    "EvalTrialSpec": (
        Rule(
            "self.runName == oldSelf.runName && self.task == oldSelf.task && "
            "self.variant == oldSelf.variant && self.repeat == oldSelf.repeat",
            "a trial is one (task, variant, repeat) of one run and stays it",
        ),
        Rule("self.attempt >= oldSelf.attempt", "attempts are counted upwards"),
    ),
}

LIST_KEYS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("EvalRunSpec", "tasks"): ("name",),
    ("EvalRunSpec", "variants"): ("name",),
    ("AgentSpec", "env"): ("name",),
    ("AgentSpec", "secretEnv"): ("name",),
    ("PodTemplate", "volumes"): ("name",),
    ("PodTemplate", "imagePullSecrets"): ("name",),
    ("EvalRunStatus", "conditions"): ("type",),
    ("EvalRunStatus", "variants"): ("name",),
    ("EvalTrialStatus", "attempts"): ("number",),
}
"""Lists whose items have a name of their own: two of one name are refused."""

LIST_SETS = frozenset(
    {("Task", "tags"), ("Sandbox", "persist"), ("Select", "tags"), ("Egress", "hosts")}
)


def with_rules(model: str, node: Node) -> Node:
    """The schema of a model with its rules and the types of its lists."""
    properties = dict(node.get("properties", {}))
    for owner, name in LIST_SETS:
        if owner == model:
            properties[name] = {**properties[name], "x-kubernetes-list-type": "set"}
    for (owner, name), keys in LIST_KEYS.items():
        if owner == model:
            properties[name] = {
                **properties[name],
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": list(keys),
            }
    rules = RULES.get(model, ())
    for name in _looked_at(model):
        if name in properties:
            properties[name] = _without_null(properties[name])
    result = {**node, **({"properties": properties} if properties else {})}
    if rules:
        result["x-kubernetes-validations"] = [rule.to_json() for rule in rules]
    return result


def _looked_at(model: str) -> set[str]:
    """Fields that a rule asks for: `has` is true for null, so they may not be null."""
    own = [(r"self\.(\w+)", rule.rule) for rule in RULES.get(model, ())]
    if model.endswith("Status"):
        rules = ROOT_RULES.get(model.removesuffix("Status"), ())
        own += [(r"self\.status\.(\w+)", rule.rule) for rule in rules]
    return {name for pattern, text in own for name in re.findall(pattern, text)}


def _without_null(node: Node) -> Node:
    return {key: value for key, value in node.items() if key != "nullable"}
