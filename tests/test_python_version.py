"""An old Python is refused with a clear message, by pip and by make alike."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def check_of_makefile() -> str:
    """The Python code with which make checks the version."""
    (code,) = re.findall(r"@\$\(PYTHON\) -c '([^']+)'", (ROOT / "Makefile").read_text("utf-8"))
    return str(code)


@pytest.mark.parametrize(
    ("version", "status"), [((3, 10, 14), 1), ((3, 11, 0), 0), ((3, 14, 1), 0)]
)
def test_make_names_the_version_that_is_needed(version, status):
    code = check_of_makefile().replace("import sys;", f"import sys; sys.version_info = {version};")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == status
    needed = "keju needs Python 3.11 or newer; set PYTHON=\n"
    assert done.stderr == (needed if status else "")


def test_pip_refuses_the_same_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert "sys.version_info < (3, 11)" in check_of_makefile()
