from cluster.images.registries import apt_config, npm_config, pip_config


def lines(text):
    return text.splitlines()


def test_apt_keeps_how_packages_are_fetched_and_nothing_else():
    dump = 'APT::Get::Assume-Yes "1";\nAcquire::http::Proxy "http://p";\nAcquire::Languages "en";\n'
    config = lines(apt_config(dump))
    assert config[0] == 'Acquire::http::Proxy "http://p";'
    assert not any("Languages" in line or "Assume-Yes" in line for line in config)


def test_pip_lets_later_files_win_and_variables_win_over_files():
    config = pip_config(
        [
            "[global]\nindex-url = one\nproxy = one\ntimeout = 1\n",
            "[global]\nproxy = two\ntimeout = 2\n",
        ],
        {"PIP_TIMEOUT": "3"},
        has_ca=False,
    )
    assert {"index-url = one", "proxy = two", "timeout = 3"} <= set(lines(config))


def test_pip_does_not_take_over_places_of_this_machine():
    config = pip_config(["[global]\ncert = /here\nfind-links = /here\n"], {}, has_ca=False)
    assert "/here" not in config


def test_pip_works_without_any_file():
    assert "cert" not in pip_config(["", ""], {}, has_ca=False)


def test_npm_keeps_its_registry_and_drops_tokens():
    config = lines(npm_config("registry=r\n//r/:_authToken=t\ncafile=/here\n", {}, has_ca=False))
    assert config[0] == "registry=r"
    assert not any("authToken" in line or "cafile" in line for line in config)


def test_npm_takes_the_registry_of_the_environment_over_the_file():
    config = lines(npm_config("registry=r\n", {"npm_config_registry": "e"}, has_ca=False))
    assert config.index("registry=e") > config.index("registry=r")


def test_the_mounted_authorities_are_trusted_by_pip_and_npm():
    assert "cert = /mnt/ca.crt" in lines(pip_config([], {}, has_ca=True))
    assert "cafile=/mnt/ca.crt" in lines(npm_config("", {}, has_ca=True))
