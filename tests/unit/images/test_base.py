from pathlib import Path

from cluster.images.base import bootstrap_command


def test_a_base_carries_no_file_of_the_machine_that_made_it():
    hooks = [part for part in bootstrap_command(Path("x.tar")) if "customize-hook" in part]
    assert [hook.split("$1/")[1] for hook in hooks] == ['etc/hostname"', 'etc/resolv.conf"']


def test_a_base_is_written_where_it_is_wanted():
    assert bootstrap_command(Path("/c/x.tar"))[-1] == "/c/x.tar"
