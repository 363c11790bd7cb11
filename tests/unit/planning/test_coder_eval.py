from dataclasses import replace
from pathlib import Path

import pytest

from builders_planning import KINDS, DiskFolder, FakeFolder, a_suite, priced
from proctor.api.errors import SpecError
from proctor.api.task import AgentSpec
from proctor.planning.layers import Layer
from proctor.planning.manifest import read_manifest
from proctor.planning.plan import plan_run

DATA = Path(__file__).parents[2] / "data" / "coder_eval"
BASE = {
    "task_id": "t",
    "description": "d",
    "initial_prompt": "Do it.",
    "success_criteria": "[{type: file_exists, path: a, description: it is there}]",
}


def a_file(**fields):
    merged = {**BASE, **fields}
    return "\n".join(f"{key}: {value}" for key, value in merged.items() if value is not None)


def read(text, contents=()):
    return read_manifest(text, "t.yaml", FakeFolder(dict(contents)))


def the_task(text, contents=()):
    (task,) = read(text, contents).tasks
    return task.task


def refused(text, contents=()):
    with pytest.raises(SpecError) as caught:
        read(text, contents)
    return caught.value.problems


def from_disk(name):
    return read_manifest((DATA / name).read_text(), name, DiskFolder(DATA))


def first_criterion_only(read_task):
    criteria = read_task.task.criteria[:1]
    return replace(read_task, task=read_task.task.model_copy(update={"criteria": criteria}))


def test_a_field_that_says_null_says_nothing():
    assert the_task(a_file(description="null", run_limits="{max_turns: null}")).limits is None


def test_a_whole_task_file_loads_as_it_is():
    manifest = from_disk("fizzbuzz.yaml")
    (read_task,) = manifest.tasks
    task = read_task.task
    assert (task.name, task.tags) == ("fizzbuzz", ("smoke", "lifecycle:generate"))
    assert task.agent.type == "claude-code"
    assert task.agent.options == {
        "permissionMode": "acceptEdits",
        "allowedTools": ["Bash", "Write"],
    }
    assert task.sandbox.model_dump(exclude_none=True) == {
        "image": "example.test/task:1",
        "persist": (),
        "services": (),
        "resources": {"cpu": "0.5", "memory": "512Mi", "ephemeral_storage": "1024Mi"},
    }
    assert [file.path for file in task.workspace.files] == [
        "README.md",
        "schema.json",
        "app/node_modules/keep.js",
        "app/src/main.py",
    ]
    assert [file.path for file in task.reference.files] == ["expected.txt"]
    assert task.limits.model_dump(exclude_none=True) == {
        "max_turns": 20,
        "max_usd": 0.5,
        "task_timeout_seconds": 300,
        "turn_timeout_seconds": 120,
    }
    assert [one.model_dump() for one in task.pre_run] == [
        {
            "command": "python -V",
            "timeout_seconds": 5,
            "fail_on_error": False,
            "where": "AgentAndChecks",
        }
    ]
    assert [one.command for one in task.post_run] == ["rm -rf tmp"]
    assert [warning.field for warning in manifest.warnings] == ["old_field"]


def test_its_criteria_speak_our_names():
    (read_task,) = from_disk("fizzbuzz.yaml").tasks
    exists, contains, regex, json_check, command = read_task.task.criteria
    assert (exists.name, exists.options()) == ("The program is there", {"path": "fizzbuzz.py"})
    assert (contains.weight, contains.options()["excludes"]) == (0.5, ["eval"])
    assert regex.options() == {
        "path": "fizzbuzz.py",
        "pattern": "^def ",
        "regexFlags": 8,
        "mustMatch": True,
    }
    assert json_check.options()["jsonSchema"] == {"type": "object"}
    assert command.options()["timeoutSeconds"] == 10
    assert command.pass_threshold == 1.0


def test_a_prompt_may_stand_in_a_file_of_its_own():
    (read_task,) = from_disk("prompt-file.yaml").tasks
    assert read_task.task.prompt == "Write a.txt."


def test_a_skipped_task_is_reported_and_not_judged():
    manifest = from_disk("skipped.yaml")
    assert (manifest.skipped, manifest.tasks) == (("known-blocked",), ())


def test_task_files_make_one_run_and_the_command_line_brings_the_agent():
    tasks = [*from_disk("fizzbuzz.yaml").tasks, *from_disk("system.yaml").tasks]
    source = a_suite(*map(first_criterion_only, tasks))
    cli = Layer("cli", "--set", agent=AgentSpec(type="none"))
    plan = plan_run(replace(source, overrides=cli), KINDS, priced)
    assert [key.task for key in plan.trials] == ["fizzbuzz", "system-check"]


def test_an_agent_that_nobody_brings_is_named_with_its_file_and_line():
    (task,) = read(a_file(agent="{type: claude-code, permission_mode: plan}")).tasks
    with pytest.raises(SpecError) as caught:
        plan_run(a_suite(task), KINDS, priced)
    (problem,) = caught.value.problems
    assert (problem.field, problem.file, problem.line) == ("agent.type", "t.yaml", 5)


def test_two_files_with_one_task_id_are_refused_by_file():
    (one,) = read(a_file(agent="{type: none}")).tasks
    with pytest.raises(SpecError) as caught:
        plan_run(a_suite(one, one), KINDS, priced)
    (problem,) = caught.value.problems
    assert (problem.field, problem.file, problem.line) == ("task_id", "t.yaml", 1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        pytest.param({"simulation": "{enabled: true}"}, "simulation", id="simulation"),
        pytest.param({"dataset": "{rows: [{id: a}]}"}, "dataset", id="dataset"),
        pytest.param({"expected_commands": 3}, "expected_commands", id="expected-commands"),
        pytest.param({"skip": "maybe"}, "skip", id="skip-is-no-boolean"),
        pytest.param({"task_id": "a b"}, "task_id", id="bad-id"),
        pytest.param({"task_id": None}, "task_id", id="no-id"),
        pytest.param({"tags": "[Not_Kebab]"}, "tags[0]", id="bad-tag"),
        pytest.param({"initial_prompt_file": "a"}, "initial_prompt_file", id="both-prompts"),
        pytest.param(
            {"run_limits": "{expected_turns: 3}"}, "run_limits.expected_turns", id="turns"
        ),
        pytest.param({"run_limits": "{max_turns: 0}"}, "run_limits.max_turns", id="limit-too-low"),
        pytest.param({"run_limits": "[1]"}, "run_limits", id="limits-are-a-list"),
        pytest.param({"sandbox": "{driver: vm}"}, "sandbox.driver", id="driver"),
        pytest.param({"sandbox": "{record_cli: [{tool: x}]}"}, "sandbox.record_cli", id="recorder"),
        pytest.param(
            {"sandbox": "{python: {env_packages: [a]}}"},
            "sandbox.python.env_packages",
            id="packages",
        ),
        pytest.param(
            {"sandbox": "{limits: {max_pids: 3}}"}, "sandbox.limits.max_pids", id="process-limit"
        ),
        pytest.param(
            {"sandbox": "{driver: docker, docker: {network: none}}"},
            "sandbox.docker.network",
            id="network",
        ),
        pytest.param(
            {"sandbox": "{template_sources: [{type: repo, url: x}]}"},
            "sandbox.template_sources[0].type",
            id="repository",
        ),
        pytest.param(
            {"sandbox": "{template_sources: 3}"}, "sandbox.template_sources", id="no-list"
        ),
        pytest.param(
            {"sandbox": "{template_sources: [{type: template_dir, path: $HOME}]}"},
            "sandbox.template_sources[0].path",
            id="variable-in-path",
        ),
        pytest.param(
            {"sandbox": "{template_sources: [{type: template_dir, path: gone}]}"},
            "sandbox.template_sources[0].path",
            id="template-is-gone",
        ),
        pytest.param(
            {
                "sandbox": "{template_sources: [{type: starter_files, files: "
                "[{path: /a, content: x}]}]}"
            },
            "sandbox.template_sources[0].files[0].path",
            id="absolute-starter-file",
        ),
        pytest.param(
            {"sandbox": "{template_sources: [{type: starter_files, files: [], mode: 1}]}"},
            "sandbox.template_sources[0].mode",
            id="unknown-source-field",
        ),
        pytest.param(
            {"reference": "{directory: gone}"}, "reference.directory", id="reference-gone"
        ),
        pytest.param(
            {"reference": "{directory: r, ref: 1}"}, "reference.ref", id="unknown-reference-field"
        ),
        pytest.param({"pre_run": "[{command: a, shell: b}]"}, "pre_run[0].shell", id="pre-run"),
        pytest.param({"post_run": "[{timeout: 3}]"}, "post_run[0].command", id="post-run"),
        pytest.param(
            {"success_criteria": "[3]"}, "success_criteria[0]", id="criterion-is-a-number"
        ),
        pytest.param(
            {"success_criteria": "[{type: llm_judge}]"}, "success_criteria[0].type", id="judge"
        ),
        pytest.param(
            {"success_criteria": "[{type: file_exists, path: a, stop_early: {on_pass: stop}}]"},
            "success_criteria[0].stop_early",
            id="early-stop",
        ),
        pytest.param(
            {"success_criteria": "[{type: run_command, command: cat $TASK_DIR/a}]"},
            "success_criteria[0].command",
            id="task-folder",
        ),
        pytest.param(
            {"success_criteria": "[{type: json_check, path: a, json_schema: s.json}]"},
            "success_criteria[0].json_schema",
            id="schema-is-not-brought",
        ),
        pytest.param(
            {"success_criteria": "[{type: file_exists, weight: -1}]"},
            "success_criteria[0].weight",
            id="negative-weight",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_by_the_files_own_field(fields, field):
    problems = refused(a_file(**fields), {"r/a": b"x"})
    assert field in [problem.field for problem in problems]
    assert all(problem.file == "t.yaml" and problem.line and problem.remedy for problem in problems)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"simulation": "{enabled: false}"}, id="simulation-off"),
        pytest.param({"dataset": "null"}, id="null"),
        pytest.param({"run_limits": "{stop_early: false, count_cached_input: false}"}, id="false"),
        pytest.param({"sandbox": "{python: {env_packages: []}, node: null}"}, id="empty"),
        pytest.param({"skip": "false"}, id="not-skipped"),
    ],
)
def test_a_field_that_says_nothing_is_no_problem(fields):
    manifest = read(a_file(**fields))
    assert (len(manifest.tasks), manifest.warnings) == (1, ())


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        pytest.param({"max_iterations": 3}, "max_iterations", id="unknown-at-the-top"),
        pytest.param(
            {"run_limits": "{max_total_tokens: 5}"},
            "run_limits.max_total_tokens",
            id="cached-tokens",
        ),
        pytest.param({"sandbox": "{docker: {image: x}}"}, "sandbox.docker", id="unused-docker"),
    ],
)
def test_what_coder_eval_tolerates_is_a_warning_with_its_line(fields, field):
    (warning,) = read(a_file(**fields)).warnings
    assert (warning.field, warning.file, warning.line) == (field, "t.yaml", 5)


def test_tokens_counted_alike_need_no_warning():
    limits = "{max_total_tokens: 5, count_cached_input: true, count_cache_creation: true}"
    assert read(a_file(run_limits=limits)).warnings == ()


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        pytest.param("program_stdout_equals", "expected_stdout", id="removed"),
        pytest.param("command_not_executed", "max_count: 0", id="renamed"),
        pytest.param("llm_judge", "supported: file_exists", id="not-yet"),
    ],
)
def test_a_criterion_of_another_type_gets_a_hint(kind, hint):
    (problem,) = refused(a_file(success_criteria=f"[{{type: {kind}}}]"))
    assert hint in problem.remedy


def test_descriptions_that_do_not_tell_apart_name_only_one():
    one = "{type: file_exists, path: a, description: there}"
    task = the_task(a_file(success_criteria=f"[{one}, {one}]"))
    assert [criterion.name for criterion in task.criteria] == ["there", None]


def test_a_long_description_is_shortened_to_a_name():
    long = f"[{{type: file_exists, path: a, description: {'x' * 200}}}]"
    (criterion,) = the_task(a_file(success_criteria=long)).criteria
    assert criterion.name == "x" * 119 + "…"


@pytest.mark.parametrize(
    "content", [pytest.param("b'{'", id="broken"), pytest.param("nope", id="text")]
)
def test_a_schema_that_is_no_json_is_refused(content):
    files = f'[{{path: s, content: "{content}"}}]'
    sandbox = f"{{template_sources: [{{type: starter_files, files: {files}}}]}}"
    criteria = "[{type: json_check, path: a, json_schema: s}]"
    (problem,) = refused(a_file(sandbox=sandbox, success_criteria=criteria))
    assert problem.field == "success_criteria[0].json_schema"


def test_a_template_leaves_out_what_the_task_says():
    sandbox = (
        "{ignore_patterns: ['!dist', '*.md'], template_sources: [{type: template_dir, path: t}]}"
    )
    contents = {"t/dist/a.js": b"1", "t/b.md": b"2", "t/.git/c": b"3", "t/d.bin": b"\xff"}
    task = the_task(a_file(sandbox=sandbox), contents)
    files = [(f.path, f.content, f.content_base64) for f in task.workspace.files]
    assert files == [("d.bin", None, "/w=="), ("dist/a.js", "1", None)]


def test_a_prompt_file_that_is_gone_or_no_text_is_refused():
    text = a_file(initial_prompt=None, initial_prompt_file="p.md")
    assert [one.field for one in refused(text)] == ["initial_prompt_file"]
    (problem,) = refused(text, {"p.md": b"\xff"})
    assert "UTF-8" in problem.message


def test_an_agent_without_options_has_none():
    task = the_task(a_file(agent="{type: none}", initial_prompt=None))
    assert (task.agent.type, task.agent.options, task.prompt) == ("none", {}, None)
