import os
from pathlib import Path

import pytest

from proctor.api.errors import PlatformError
from proctor.gateway.providers import (
    FileKey,
    FixedKey,
    Provider,
    providers_from_environment,
    route,
)
from proctor.wire.formats import ANTHROPIC_MESSAGES, OPENAI_CHAT


def a_provider(name: str, *models: str, namespaces: tuple[str, ...] = ("*",)) -> Provider:
    return Provider(name, (OPENAI_CHAT,), "http://x", FixedKey(None), models or ("*",), namespaces)


def routed(model: str, *providers: Provider, namespace: str = "team") -> str | None:
    found = route(providers, model, OPENAI_CHAT, namespace)
    return None if found is None else found.name


def test_the_first_provider_that_serves_a_model_gets_it() -> None:
    providers = (a_provider("a", "gpt-*"), a_provider("b", "gpt-5", "x"), a_provider("c"))
    assert [routed(m, *providers) for m in ("gpt-5", "x", "y")] == ["a", "b", "c"]


def test_a_model_that_nobody_serves_has_no_provider() -> None:
    assert routed("x", a_provider("a", "gpt-*")) is None


def test_a_provider_serves_only_its_namespaces() -> None:
    assert routed("x", a_provider("a", namespaces=("other", "web-*"))) is None
    assert routed("x", a_provider("a", namespaces=("other", "web-*")), namespace="web-1") == "a"


def test_a_provider_serves_only_its_format() -> None:
    assert route((a_provider("a"),), "x", ANTHROPIC_MESSAGES, "team") is None


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param(
            {"ANTHROPIC_API_KEY": "k"},
            [("anthropic", "https://api.anthropic.com", "k")],
            id="anthropic",
        ),
        pytest.param(
            {"OPENAI_API_KEY": "k"}, [("openai", "https://api.openai.com/v1", "k")], id="openai"
        ),
        pytest.param(
            {"OPENAI_BASE_URL": "http://localhost:11434/v1/", "OPENAI_API_KEY": ""},
            [("openai", "http://localhost:11434/v1", None)],
            id="a-server-of-ones-own-without-key",
        ),
    ],
)
def test_providers_come_from_the_usual_variables(
    environment: dict[str, str], found: list[tuple[str, str, str | None]]
) -> None:
    providers = providers_from_environment(environment)
    assert [(p.name, p.base_url, p.key.read()) for p in providers] == found


def test_only_a_server_of_ones_own_serves_any_model() -> None:
    (official,) = providers_from_environment({"OPENAI_API_KEY": "k"})
    (own,) = providers_from_environment({"OPENAI_BASE_URL": "http://localhost/v1"})
    assert not official.serves("llama3", OPENAI_CHAT, "local")
    assert official.serves("gpt-5", OPENAI_CHAT, "local")
    assert own.serves("llama3", OPENAI_CHAT, "local")


def test_a_key_never_shows_in_a_representation() -> None:
    (provider,) = providers_from_environment({"OPENAI_API_KEY": "sk-secret"})
    assert "sk-secret" not in repr(provider)


def test_a_key_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("first\n")
    key = FileKey(path)
    assert key.read() == "first"
    path.write_text("second")
    os.utime(path, ns=(1, 1))
    assert key.read() == "second"


@pytest.mark.parametrize(
    "content", [pytest.param(None, id="missing"), pytest.param(" \n", id="empty")]
)
def test_a_key_file_without_a_key_is_our_failure_and_is_named(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_text(content)
    with pytest.raises(PlatformError, match=str(path)):
        FileKey(path).read()
