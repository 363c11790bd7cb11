"""Where the API server is, and how to prove who we are."""

import base64

import pytest

from proctor.controller.kube.connection import (
    Connection,
    NoClusterError,
    TokenFile,
    find_connection,
    kubeconfig_connection,
)


def a_kubeconfig(**user):
    return {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [
            {
                "name": "c",
                "cluster": {
                    "server": "https://api.example:6443/",
                    "certificate-authority-data": base64.b64encode(b"CA").decode(),
                },
            }
        ],
        "users": [{"name": "u", "user": user}],
    }


def test_a_kubeconfig_gives_server_authority_and_token(tmp_path):
    connection = kubeconfig_connection(a_kubeconfig(token="t"), tmp_path / "config")
    assert connection.server == "https://api.example:6443"
    assert connection.ca_file.read_bytes() == b"CA"
    assert connection.token() == "t"


def test_files_are_looked_for_beside_the_kubeconfig(tmp_path):
    config = a_kubeconfig(**{"client-certificate": "me.crt", "client-key": "me.key"})
    connection = kubeconfig_connection(config, tmp_path / "config")
    assert connection.certificate_file == tmp_path / "me.crt"
    assert connection.key_file == tmp_path / "me.key"
    assert connection.token() is None


def test_credential_plugins_are_refused_by_name(tmp_path):
    with pytest.raises(NoClusterError, match="credential plugins"):
        kubeconfig_connection(a_kubeconfig(exec={"command": "aws"}), tmp_path / "config")


def test_a_name_that_leads_nowhere_is_named(tmp_path):
    config = {**a_kubeconfig(), "current-context": "elsewhere"}
    with pytest.raises(NoClusterError, match="elsewhere"):
        kubeconfig_connection(config, tmp_path / "config")


def test_without_any_cluster_the_error_says_what_to_set(tmp_path):
    with pytest.raises(NoClusterError, match="KUBECONFIG"):
        find_connection({"KUBECONFIG": str(tmp_path / "none")})


def test_a_kubeconfig_is_found_by_its_variable(tmp_path):
    path = tmp_path / "config"
    path.write_text(str(a_kubeconfig(token="t")))
    assert find_connection({"KUBECONFIG": str(path)}).server == "https://api.example:6443"


def test_a_token_that_is_renewed_on_disk_is_read_again(tmp_path):
    path = tmp_path / "token"
    path.write_text("first\n")
    moments = iter([0.0, 59.0, 61.0])
    file = TokenFile(path, lambda: next(moments))
    assert file.token() == "first"
    path.write_text("second\n")
    assert [file.token(), file.token()] == ["first", "second"]


def test_plain_http_needs_no_tls():
    assert Connection("http://127.0.0.1:1").tls() is True
