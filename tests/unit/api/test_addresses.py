"""Which addresses are public, and which blocks lie in which."""

import pytest

from proctor.api.addresses import is_public, within


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111"])
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.127.255.255",
        "127.0.0.53",
        "169.254.169.254",
        "172.31.255.255",
        "192.168.0.1",
        "198.19.255.255",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::a00:1",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "2002:a00:1::",
        "2001:db8::1",
    ],
)
def test_private_local_and_disguised_addresses_are_not(address):
    assert not is_public(address)


def test_blocks_of_the_cluster_are_not_public():
    assert not is_public("40.1.2.3", ("40.1.0.0/16",))
    assert not is_public("2a00::5", ("40.1.0.0/16", "2a00::/32"))
    assert is_public("40.2.0.1", ("40.1.0.0/16", "2a00::/32"))


def test_what_is_no_address_is_an_error():
    with pytest.raises(ValueError, match="pypi"):
        is_public("pypi.org")


def test_only_blocks_inside_are_within():
    assert within("0.0.0.0/0", ("10.0.0.0/8", "fd00::/8")) == ("10.0.0.0/8",)
    assert within("2000::/3", ("10.0.0.0/8", "fd00::/8", "2a00::/32")) == ("2a00::/32",)
