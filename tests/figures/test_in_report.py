"""Figures in the report's page, and what is said where nothing can draw them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from keju.reporting.page import write_report

BLOCKED = "import sys; sys.modules['altair'] = None; "


def keju_without_altair(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, check=False
    )


def test_the_page_holds_its_figures_under_the_same_policy(run: Path, tmp_path: Path):
    page = write_report([run], tmp_path / "r.html").page.read_text("utf-8")
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', page)
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 2
    figures = re.findall(r'<svg role="img".*?</svg>', page, re.DOTALL)
    assert sum("MCS-Bench: overall means" in figure[:100] for figure in figures) == 1
    assert 'style="' not in page
    assert "騰" in "".join(figures)


def test_the_page_is_chinese_throughout(run: Path, tmp_path: Path):
    page = write_report([run], tmp_path / "r.html", language="zh").page.read_text("utf-8")
    assert "MCS-Bench：总均值" in page
    assert "overall means" not in page.split('id="summary"')[0]


def test_without_altair_a_report_has_no_figures_and_says_what_to_install(run: Path, tmp_path: Path):
    page = tmp_path / "r.html"
    done = keju_without_altair(
        "from pathlib import Path; from keju.reporting.page import write_report; "
        f"write_report([Path({str(run)!r})], Path({str(page)!r}))"
    )
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    assert "pip install &#34;keju[figures]&#34;" in text
    assert 'id="figures"' not in text


def test_without_altair_the_command_is_refused_in_a_line():
    done = keju_without_altair(
        "sys.argv = ['keju', 'figures', 'mini']; from keju.cli import main; main()"
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "keju: the drawing of figures is not available here. Install it with: "
        'pip install "keju[figures]"'
    ]
