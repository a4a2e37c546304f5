"""The audit as a whole: what holds is said too, and page and command say the same."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from keju.errors import UsageError
from keju.published import audit_published

ROOT = Path(__file__).resolve().parents[2]


def test_what_holds_is_said_too(audit):
    held = {(each.benchmark, each.check): each for each in audit.held}
    assert held["MCS-Bench", "domain-mean"].compared == 6 * 38
    assert held["MCS-Bench", "rank"].compared == 37
    assert held["OBI-Bench", "average-of-deciphering"].compared == 24
    assert held["AncientDoc", "pages-by-category"].compared == 1
    assert ("MCS-Bench", "t9-copies-t8") not in held


def test_every_declared_check_compares_something(audit):
    for each in (*audit.findings, *audit.held):
        assert each.compared > 0, each


def test_the_audit_of_one_paper_is_its_part(audit):
    assert audit_published("OBI-Bench").findings == tuple(
        each for each in audit.findings if each.benchmark == "OBI-Bench"
    )
    with pytest.raises(UsageError, match="there are MCS-Bench"):
        audit_published("OCRBench")


def test_the_page_is_what_the_tool_prints():
    path = ROOT / "tools" / "make_audit_page.py"
    spec = importlib.util.spec_from_file_location("make_audit_page", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    made = (ROOT / "docs" / "audit.md").read_text("utf-8")
    assert made == tool.page(), f"make it again: python tools/{path.name} > docs/audit.md"


def test_the_command_prints_findings_and_json():
    def keju(*args):
        return subprocess.run(
            [sys.executable, "-m", "keju", "audit", *args],
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )

    done = keju("published", "--benchmark", "AncientDoc")
    assert done.returncode == 0
    assert "Qwen3-VL-8B" in done.stdout
    found = json.loads(keju("published", "--json").stdout)
    assert {each["severity"] for each in found["findings"]} == {
        "error", "conflict", "meaning", "marks", "caution",
    }  # fmt: skip
    wrong = keju("published", "--benchmark", "nothing")
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1
