"""What planning refuses, each with field and remedy, and all of it at once."""

import pytest

from builders_planning import a_task, problems_of

FILE = {"path": "a", "content": "x"}
MANY = [{"type": "file_exists", "path": str(i)} for i in range(30)]


def files(*entries):
    return {"workspace": {"files": list(entries)}}


def services(*entries):
    return {"sandbox": {"services": list(entries)}}


DB = {"name": "db", "image": "postgres:16", "port": 5432}


def in_image(path, **sandbox):
    task = a_task(workspace={"image": {"path": path}})
    return {"tasks": [task], "sandbox": {"image": "acme/swe:1", **sandbox}}


CASES = [
    pytest.param(
        in_image("/home"),
        "spec.tasks[0].workspace.image.path",
        "/testbed",
        id="workspace-that-covers-home",
    ),
    pytest.param(
        in_image("/opt/../etc"),
        "spec.tasks[0].workspace.image.path",
        "/testbed",
        id="workspace-leads-elsewhere",
    ),
    pytest.param(
        in_image("/testbed", persist=["/testbed/build"]),
        "spec.tasks[0].workspace.image.path",
        "take it out of persist",
        id="workspace-is-persisted",
    ),
    pytest.param(
        in_image("/testbed", image=None),
        "spec.tasks[0].workspace.image",
        "set sandbox.image",
        id="workspace-of-no-image",
    ),
    pytest.param(
        services(DB, {**DB, "port": 1}),
        "spec.sandbox.services[1].name",
        "rename",
        id="two-services",
    ),
    pytest.param(
        services(DB, {**DB, "name": "other"}),
        "spec.sandbox.services[1].port",
        "a port of its own",
        id="two-services-one-port",
    ),
    pytest.param(
        services({**DB, "name": "grade"}),
        "spec.sandbox.services[0].name",
        "choose another",
        id="service-with-a-name-of-ours",
    ),
    pytest.param(
        services({**DB, "port": 61117}),
        "spec.sandbox.services[0].port",
        "choose another",
        id="service-on-a-port-of-ours",
    ),
    pytest.param(
        services({**DB, "env": [{"name": "A"}, {"name": "A"}]}),
        "spec.sandbox.services[0].env[1].name",
        "remove one",
        id="variable-of-a-service-twice",
    ),
    pytest.param(
        {"sandbox": {"artifacts": {"paths": ["out/**", "a/../../b"]}}},
        "spec.sandbox.artifacts.paths[1]",
        "name what is in it",
        id="artifacts-lead-out",
    ),
    pytest.param({"agent": None}, "spec.agent.type", "known: command, mini, none", id="no-agent"),
    pytest.param(
        {"agent": {"type": "x"}}, "spec.agent.type", "known: command, mini", id="unknown-agent"
    ),
    pytest.param(
        {"agent": {"type": "mini"}}, "spec.agent.model", "set agent.model", id="mini-without-model"
    ),
    pytest.param(
        {"tasks": [a_task(prompt="  ")]}, "spec.tasks[0].prompt", "agent type none", id="no-prompt"
    ),
    pytest.param(
        {"tasks": [a_task(criteria=[])]}, "spec.tasks[0].criteria", "at least one", id="no-criteria"
    ),
    pytest.param(
        {"tasks": [a_task(criteria=[{"type": "file_exists", "weight": 0}])]},
        "spec.tasks[0].criteria",
        "weight above 0",
        id="all-weights-0",
    ),
    pytest.param(
        {"tasks": [a_task(criteria=MANY)], "criteria": MANY},
        "spec.tasks[0].criteria",
        "50 or fewer",
        id="too-many-criteria",
    ),
    pytest.param(
        {"criteria": [{"type": "nope"}]}, "spec.criteria[0].type", "known", id="unknown-criterion"
    ),
    pytest.param(
        {"tasks": [a_task(criteria=[{"type": "asks"}])], "agent": {"type": "none"}},
        "spec.tasks[0].criteria[0]",
        "choose an agent",
        id="criterion-needs-agent",
    ),
    pytest.param(
        {"tasks": [a_task(criteria=[{"type": "compares"}])]},
        "spec.tasks[0].criteria[0]",
        "reference: {files",
        id="criterion-reads-no-reference",
    ),
    pytest.param(
        {"tasks": [a_task(criteria=[{"type": "run_command", "command": "cat $REFERENCE_DIR/a"}])]},
        "spec.tasks[0].criteria[0]",
        "reference: {files",
        id="command-reads-no-reference",
    ),
    pytest.param(
        {"tasks": [a_task(), a_task()]}, "spec.tasks[1].name", "of its own", id="two-tasks-one-name"
    ),
    pytest.param(
        {"variants": [{"name": "a"}, {"name": "a"}]},
        "spec.variants[1].name",
        "of its own",
        id="two-variants-one-name",
    ),
    pytest.param(
        {"tasks": [a_task(**files({"path": "a/../../b", "content": ""}))]},
        "spec.tasks[0].workspace.files[0].path",
        "without `..`",
        id="path-leads-out",
    ),
    pytest.param(
        {"tasks": [a_task(**files({"path": ".", "content": ""}))]},
        "spec.tasks[0].workspace.files[0].path",
        "src/main.py",
        id="path-of-no-file",
    ),
    pytest.param(
        {"tasks": [a_task(**files({"path": "a"}))]},
        "spec.tasks[0].workspace.files[0]",
        "exactly one",
        id="file-without-content",
    ),
    pytest.param(
        {"tasks": [a_task(reference={"files": [{**FILE, "contentBase64": "eA=="}]})]},
        "spec.tasks[0].reference.files[0]",
        "exactly one",
        id="file-with-both-contents",
    ),
    pytest.param(
        {"variants": [{"name": "v", **files({"path": "a", "contentBase64": "?"})}]},
        "spec.variants[0].workspace.files[0].contentBase64",
        "base64 -w0",
        id="not-base64",
    ),
    pytest.param(
        {"tasks": [a_task(**files(FILE, {"path": "a/b", "content": ""}))]},
        "spec.tasks[0].workspace",
        "rename one",
        id="file-and-folder",
    ),
    pytest.param(
        {
            "tasks": [a_task(**files(FILE))],
            "variants": [{"name": "v", **files({"path": "a/b", "content": ""})}],
        },
        "spec.variants[0].workspace",
        "rename one",
        id="file-and-folder-across-layers",
    ),
    pytest.param(
        {
            "tasks": [
                a_task(**files(*({"path": f"f{i}", "content": "x" * 65_000} for i in range(10))))
            ]
        },
        "spec.tasks[0].workspace",
        "into the image",
        id="too-many-bytes",
    ),
    pytest.param(
        {"variants": [{"name": "v", "prompt": {"text": "a", "suffix": "b"}}]},
        "spec.variants[0].prompt",
        "either text",
        id="prompt-replaced-and-changed",
    ),
    pytest.param(
        {"models": {"mode": "Scripted"}}, "spec.models.script", "script.inline", id="no-script"
    ),
    pytest.param(
        {"models": {"script": {"inline": "x"}}},
        "spec.models.script",
        "mode: Scripted",
        id="script-in-live-mode",
    ),
    pytest.param(
        {"models": {"mode": "Scripted", "script": {}}},
        "spec.models.script",
        "inline or configMap",
        id="script-from-nowhere",
    ),
    pytest.param(
        {"limits": {"maxUsd": 1}, "agent": {"type": "mini", "model": "odd"}},
        "spec.limits.maxUsd",
        "maxTotalTokens",
        id="money-without-price",
    ),
    pytest.param(
        {"budget": {"usd": 1}, "agent": {"type": "mini", "model": "odd"}},
        "spec.budget.usd",
        "a model with a price",
        id="budget-without-price",
    ),
    pytest.param(
        {"agent": {"type": "none", "env": [{"name": "A"}, {"name": "A"}]}},
        "spec.agent.env[1].name",
        "of its own",
        id="variable-twice",
    ),
    pytest.param(
        {"tasks": [a_task(agent={"env": [{"name": "PROCTOR_X"}]})]},
        "spec.tasks[0].agent.env[0].name",
        "leave it out",
        id="our-variable",
    ),
    pytest.param(
        {"sandbox": {"persist": ["/home/agent/x"]}},
        "spec.sandbox.persist[0]",
        "/opt/tools",
        id="persist-in-home",
    ),
    pytest.param(
        {"sandbox": {"persist": ["/tmp"]}},
        "spec.sandbox.persist[0]",
        "/opt/tools",
        id="persist-of-a-folder-that-has-a-volume",
    ),
    pytest.param(
        {"sandbox": {"persist": ["/opt/a", "/opt/b", "/opt/a"]}},
        "spec.sandbox.persist[2]",
        "/opt/tools",
        id="persist-twice",
    ),
    pytest.param(
        {"sandbox": {"persist": ["/opt/../etc"]}},
        "spec.sandbox.persist[0]",
        "/opt/tools",
        id="persist-with-dots",
    ),
    pytest.param(
        {"select": {"tasks": ["x*"]}}, "spec.select.tasks[0]", "known: hello", id="no-such-task"
    ),
    pytest.param(
        {"select": {"tags": ["x"]}}, "spec.select.tags[0]", "there are none", id="no-such-tag"
    ),
    pytest.param(
        {
            "tasks": [a_task("a", tags=["x"]), a_task("b")],
            "select": {"tags": ["x"], "tasks": ["b"]},
        },
        "spec.select",
        "fewer fields",
        id="nothing-selected",
    ),
    pytest.param(
        {
            "tasks": [a_task(str(i)) for i in range(200)],
            "repeats": 100,
            "variants": [{"name": "a"}, {"name": "b"}],
        },
        "spec.repeats",
        "20000 or fewer",
        id="too-many-trials",
    ),
]


@pytest.mark.parametrize(("fields", "field", "remedy"), CASES)
def test_planning_refuses(fields, field, remedy):
    assert [(p.field, remedy in p.remedy) for p in problems_of(**fields)] == [(field, True)]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        pytest.param("a" * 41, "shorten it to 40", id="too-long"),
        pytest.param("Run_1", "a-z, 0-9 and -", id="no-kubernetes-name"),
        pytest.param("run\n", "a-z, 0-9 and -", id="with-a-line-end"),
    ],
)
def test_a_run_needs_a_name_that_pods_can_be_named_after(name, remedy):
    (problem,) = problems_of(name=name)
    assert (problem.field, remedy in problem.remedy) == ("metadata.name", True)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param("rules: 5", ".rules: is a whole number", id="no-rules"),
        pytest.param("[" * 3000, "maximum nesting depth", id="endless-nesting"),
        pytest.param(f"rules: [{'9' * 5000}]", "characters is not read", id="endless-number"),
        pytest.param(
            "rules: [{answer: {tools: [{name: a, input: {day: 2024-01-31}}]}}]",
            "input of a is not JSON",
            id="a-date",
        ),
        pytest.param("rules: [{answer: {text: 2024-13-01}}]", "put it in quotes", id="no-date"),
    ],
)
def test_a_script_that_cannot_answer_is_refused_before_an_agent_meets_it(script, said):
    # On a cluster the gateway refused every call instead, and the agent scored 0 for it.
    (problem,) = problems_of(models={"mode": "Scripted", "script": {"inline": script}})
    assert problem.field.startswith("spec.models.script.inline")
    assert said in str(problem)


def test_all_problems_are_named_at_once_and_each_once():
    tasks = [a_task("a", criteria=[]), a_task("b", criteria=[{"type": "nope"}])]
    problems = problems_of(name="X", tasks=tasks, variants=[{"name": "v"}, {"name": "w"}])
    assert [problem.field for problem in problems] == [
        "metadata.name",
        "spec.tasks[0].criteria",
        "spec.tasks[1].criteria[0].type",
    ]


def test_a_money_limit_needs_no_price_where_no_model_is_named_or_asked():
    command = {"type": "command", "options": {"command": "x"}}
    assert problems_of(limits={"maxUsd": 1}, agent=command) == ()
    assert problems_of(limits={"maxUsd": 1}, agent={"type": "none", "model": "odd"}) == ()


def test_a_long_list_of_known_names_is_cut():
    tasks = [a_task(f"t{i}") for i in range(12)]
    (problem,) = problems_of(tasks=tasks, select={"tasks": ["x"]})
    assert problem.remedy.endswith("t9 and 2 more")
