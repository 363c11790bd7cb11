import pytest

from proctor.local.environment import phase_environment


def test_only_what_is_known_to_be_harmless_passes():
    environ = {
        "PATH": "/usr/bin",
        "LANG": "C.UTF-8",
        "LC_TIME": "de_DE",
        "ANTHROPIC_API_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "GITHUB_TOKEN": "secret",
        "HOME": "/home/me",
        "PYTHONPATH": "/mine",
        "SSH_AUTH_SOCK": "/run/agent",
    }
    assert phase_environment(environ) == {
        "PATH": "/usr/bin",
        "LANG": "C.UTF-8",
        "LC_TIME": "de_DE",
    }


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        pytest.param("https://pypi.example/simple", True, id="plain"),
        pytest.param("https://me:token@pypi.example/simple", False, id="with-a-password"),
    ],
)
def test_package_index_passes_without_its_password(value, kept):
    assert ("PIP_INDEX_URL" in phase_environment({"PIP_INDEX_URL": value})) is kept


def test_agents_do_not_see_proctors_own_virtual_environment():
    environ = {"PATH": "/venv/bin:/usr/bin", "VIRTUAL_ENV": "/venv"}
    assert phase_environment(environ, "/venv/bin", "/opt/python/bin") == {
        "PATH": "/usr/bin:/opt/python/bin"
    }


def test_folder_of_the_interpreter_is_not_repeated():
    assert phase_environment({"PATH": "/usr/bin"}, None, "/usr/bin") == {"PATH": "/usr/bin"}
