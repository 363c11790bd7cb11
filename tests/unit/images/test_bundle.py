from pathlib import Path

import pytest
from bundle.bytecode import CompileError, compile_beside_sources, replace_sources
from bundle.interpreter import is_left_out
from bundle.libraries import MissingLibraryError, bundled_name, needed_libraries

LISTING = """\
\tlinux-vdso.so.1 (0x00007ffd0a9c5000)
\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f1d6a5d2000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1d6a3ec000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f1d6a60b000)
"""


def test_libraries_and_loader_are_read_and_the_kernels_object_is_not():
    assert needed_libraries(LISTING) == (
        Path("/lib/x86_64-linux-gnu/libz.so.1"),
        Path("/lib/x86_64-linux-gnu/libc.so.6"),
        Path("/lib64/ld-linux-x86-64.so.2"),
    )


def test_a_program_without_libraries_needs_none():
    assert needed_libraries("\tstatically linked\n") == ()


def test_a_library_that_is_not_installed_is_named():
    with pytest.raises(MissingLibraryError, match=r"libgcc_s\.so\.1"):
        needed_libraries("\tlibgcc_s.so.1 => not found\n")


@pytest.mark.parametrize(
    ("library", "name"),
    [
        pytest.param("/lib64/ld-linux-x86-64.so.2", "ld.so", id="amd64"),
        pytest.param("/lib/ld-linux-aarch64.so.1", "ld.so", id="arm64"),
        pytest.param("/lib/libz.so.1", "libz.so.1", id="library"),
    ],
)
def test_the_loader_has_one_name_on_every_architecture(library, name):
    assert bundled_name(Path(library)) == name


@pytest.mark.parametrize("name", ["test", "ensurepip", "pdb.py", "__pycache__", "config-3.13-x"])
def test_tests_and_installers_stay_behind(name):
    assert is_left_out(name)


@pytest.mark.parametrize(
    "name",
    ["_testcapi.cpython-313-x86_64-linux-gnu.so", "readline.cpython-313-x86_64-linux-gnu.so"],
)
def test_extensions_for_tests_and_terminals_stay_behind(name):
    assert is_left_out(name)


@pytest.mark.parametrize("name", ["os.py", "asyncio", "_ssl.cpython-313-x86_64-linux-gnu.so"])
def test_what_a_runner_uses_is_taken_along(name):
    assert not is_left_out(name)


@pytest.fixture
def package(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text("answer = 42\n")
    (tmp_path / "package" / "data.json").write_text("{}")
    return tmp_path


def test_compiled_modules_take_the_place_of_sources_and_data_stays(package):
    replace_sources(package, Path("/proctor"))
    assert sorted(path.name for path in (package / "package").iterdir()) == [
        "data.json",
        "module.pyc",
    ]


def test_compiled_modules_beside_sources_never_look_at_the_source(package):
    compile_beside_sources(package, Path("/proctor"))
    (compiled,) = package.rglob("*.pyc")
    flags = compiled.read_bytes()[4:8]
    assert (package / "package" / "module.py").exists()
    assert flags == b"\x01\0\0\0"  # PEP 552: a hash, which is not checked


def test_compiled_modules_name_the_place_where_they_will_be(package):
    replace_sources(package, Path("/proctor"))
    assert b"/proctor/package/module.py" in (package / "package" / "module.pyc").read_bytes()


def test_a_module_that_does_not_compile_stops_the_build(package, capsys):
    (package / "package" / "broken.py").write_text("def\n")
    with pytest.raises(CompileError, match="do not compile"):
        replace_sources(package, Path("/proctor"))
    assert "broken.py" in capsys.readouterr().out
