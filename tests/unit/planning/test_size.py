import pytest

from proctor.api.evalrun import EvalRunSpec
from proctor.planning.model import RunSource
from proctor.planning.size import applied_bytes, size_problem

KIB = 1024


def problem(size_bytes: int | None, *, server_side: bool = False) -> str:
    source = RunSource("big", EvalRunSpec.model_construct(), size_bytes=size_bytes)
    return str(size_problem(source, server_side=server_side) or "")


def test_a_document_is_as_large_as_kubectl_writes_it() -> None:
    assert applied_bytes({"a": ["ä", 1]}) == len('{"a":["ä",1]}'.encode())
    assert applied_bytes({"a": "<&>"}) == len(r'{"a":"\u003c\u0026\u003e"}')


@pytest.mark.parametrize(
    ("size_bytes", "server_side"),
    [
        pytest.param(None, False, id="no-evalrun-document"),
        pytest.param(200 * KIB, False, id="200-KiB"),
        pytest.param(1024 * KIB, True, id="1-MiB-server-side"),
    ],
)
def test_up_to_the_limit_nothing_is_said(size_bytes: int | None, server_side: bool) -> None:
    assert problem(size_bytes, server_side=server_side) == ""


def test_above_the_limit_the_remedy_is_named() -> None:
    text = problem(200 * KIB + 1)
    assert "EvalRun 'big' is 201 KiB, and `kubectl apply` takes 200 KiB" in text
    assert "`kubectl apply --server-side`" in text


def test_what_no_way_of_applying_takes_is_not_sent_there() -> None:
    for server_side in (False, True):
        text = problem(1024 * KIB + 1, server_side=server_side)
        assert "split it" in text
        assert "`proctor push`" in text
        assert "proctor validate" not in text
