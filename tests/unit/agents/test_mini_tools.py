import os

import pytest

from builders_agents import a_session, is_gone, is_running
from proctor.agents.mini.shell import MAX_OUTPUT_BYTES
from proctor.agents.mini.tools import MAX_ENTRIES, MAX_RESULT_BYTES, ToolError, Tools


@pytest.fixture
async def tools(tmp_path):
    tools = Tools(a_session(tmp_path, "mini", shellTimeoutSeconds=1))
    yield tools
    await tools.stop()


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir(exist_ok=True)
    return folder


async def test_what_was_written_is_read_and_listed(tools):
    await tools.run("write", {"path": "src/a.py", "content": "ü = 1\n"})
    await tools.run("write", {"path": "b.txt", "content": ""})
    assert await tools.run("read", {"path": "./src/a.py"}) == "ü = 1\n"
    assert await tools.run("list", {}) == "b.txt\nsrc/"
    assert await tools.run("list", {"path": "src"}) == "a.py"


async def test_an_absolute_path_in_the_workspace_is_fine(tools, workspace):
    await tools.run("write", {"path": str(workspace / "a"), "content": "x"})
    assert (workspace / "a").read_text() == "x"


async def test_an_empty_folder_says_so(tools):
    assert await tools.run("list", {}) == "(empty)"


async def test_a_large_file_and_a_large_folder_are_cut_with_a_note(tools, workspace):
    (workspace / "big").write_bytes(b"a" * (MAX_RESULT_BYTES + 1))
    text = await tools.run("read", {"path": "big"})
    assert text.endswith(f"\n[… cut after {MAX_RESULT_BYTES} bytes …]")
    for number in range(MAX_ENTRIES + 1):
        (workspace / f"f{number}").touch()
    assert (await tools.run("list", {})).endswith("… and 2 more")


@pytest.mark.parametrize("path", ["../x", "/etc/hostname", "link/x", "a/../../x"])
@pytest.mark.parametrize("tool", ["read", "write", "list"])
async def test_no_path_leaves_the_workspace(tools, workspace, tool, path):
    (workspace / "link").symlink_to("/tmp")
    with pytest.raises(ToolError, match="outside the workspace"):
        await tools.run(tool, {"path": path, "content": ""})


@pytest.mark.parametrize(
    ("tool", "parameters", "said"),
    [
        pytest.param("read", {"path": "pipe"}, "pipe is not a file", id="read-a-pipe"),
        pytest.param("read", {"path": "loop"}, "loop is not a file", id="read-a-link-loop"),
        pytest.param("write", {"path": "pipe", "content": ""}, "is not a file", id="write-a-pipe"),
        pytest.param("write", {"path": ".", "content": ""}, "is not a file", id="write-a-folder"),
        pytest.param("write", {"path": "a", "content": "\ud800"}, "surrogate", id="no-utf-8"),
        pytest.param("write", {"path": "a", "content": 1}, "must be a string", id="number"),
        pytest.param("list", {"path": "nope"}, "nope is not a folder", id="list-nothing"),
        pytest.param("read", {"path": "a\x00b"}, "null", id="nul"),
        pytest.param("shell", {}, "parameter 'command' must be a string", id="no-command"),
        pytest.param("shell", {"command": "a\x00b"}, "null", id="nul-in-command"),
    ],
)
async def test_what_cannot_be_done_is_an_error_for_the_model(
    tools, workspace, tool, parameters, said
):
    os.mkfifo(workspace / "pipe")
    (workspace / "loop").symlink_to("loop")
    with pytest.raises(ToolError, match=said):
        await tools.run(tool, parameters)


async def test_a_shell_command_gives_output_and_exit_code(tools):
    text = await tools.run("shell", {"command": "pwd | xargs basename; echo oops >&2; exit 3"})
    assert sorted(text.splitlines()[:2]) == ["oops", "workspace"]
    assert text.endswith("\n[exit code 3]")


async def test_a_shell_command_that_takes_too_long_is_ended_with_its_children(tools):
    text = await tools.run("shell", {"command": "sleep 300 & echo $!; wait"})
    assert "[timed out after 1 s; it and its children were ended]" in text
    assert await is_gone(int(text.splitlines()[0]))


async def test_a_flood_of_output_keeps_both_ends(tools):
    text = await tools.run("shell", {"command": "echo begin; yes | head -c 900000; echo end"})
    assert text.startswith("begin\n")
    assert text.endswith("end\n\n[exit code 0]")
    assert len(text) < MAX_OUTPUT_BYTES + 200


async def test_background_work_lives_until_the_agent_stops(tools):
    text = await tools.run("shell", {"command": "sleep 300 & echo $!"})
    child = int(text.splitlines()[0])
    assert text.endswith("[exit code 0]")
    assert is_running(child)
    await tools.stop()
    assert await is_gone(child)
