import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module", ["proctor.agents.none", "proctor.agents.command", "proctor.agents.mini.agent"]
)
def test_an_adapter_imports_the_standard_library_only(module):
    code = (
        f"import sys, {module}; "
        "outside = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names; "
        "print(sorted(name for name in outside if 'pydantic' in name or name in "
        "('yaml', 'aiohttp', 'httpx', 'jmespath')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
