"""Artifacts that the results server would refuse are refused before anything runs."""

import pytest

from builders_controller import World, run_body


def keeping(mib, name="greet"):
    """A task that keeps artifacts up to a size; None: it does not say."""
    size = {} if mib is None else {"maxMiB": mib}
    criteria = [{"type": "file_exists", "path": "hello.txt"}]
    artifacts = {"paths": ["**"], **size}
    return {
        "name": name,
        "prompt": "Say hello.",
        "criteria": criteria,
        "sandbox": {"artifacts": artifacts},
    }


async def accepted(tasks, most):
    world = World(trial={"maxRecordMiB": most})
    await world.apply(run_body(tasks=tasks))
    (found,) = [c for c in world.run()["status"]["conditions"] if c["type"] == "Accepted"]
    return found["status"], found["message"]


@pytest.mark.parametrize(
    ("mib", "most", "status"),
    [
        pytest.param(256, 256, "True", id="as-much"),
        pytest.param(257, 256, "False", id="more"),
        pytest.param(None, 49, "False", id="more-by-default"),
        pytest.param(None, 50, "True", id="as-much-by-default"),
        pytest.param(1024, None, "True", id="no-results-server"),
    ],
)
async def test_no_run_may_keep_more_than_the_results_server_takes(mib, most, status):
    assert (await accepted([keeping(mib)], most))[0] == status


async def test_the_refusal_names_both_bounds_and_the_task():
    _, message = await accepted([keeping(1), keeping(300, "big"), keeping(400, "huge")], 256)
    for part in ("sandbox.artifacts.maxMiB", "results.maxFolderMiB", "'big' and 1 more", "300 MiB",
                 "256 MiB"):  # fmt: skip
        assert part in message
