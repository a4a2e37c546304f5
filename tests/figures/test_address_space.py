"""Under ``ulimit -v`` figures are refused in one line, and a report is made without them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v is of Linux")
LIMIT = 32 * 2**30


def limited(*arguments: object) -> subprocess.CompletedProcess[str]:
    code = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({LIMIT}, {LIMIT}))\n"
        "sys.argv[0] = 'keju'\n"
        "from keju.cli import main; main()"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_figures_are_refused_in_one_line(run, tmp_path):
    done = limited("figures", run, "-o", tmp_path / "figures")
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip().splitlines() == [
        "keju: Figures cannot be drawn: the address space is limited to 32 GiB. "
        "Remove the limit: ulimit -v unlimited"
    ]


def test_a_report_is_made_without_figures(run, tmp_path):
    done = limited("report", run, "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert "ulimit -v unlimited" in (tmp_path / "report.html").read_text("utf-8")
