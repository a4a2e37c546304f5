"""The audit as a whole: what holds is said too, and page and command say the same."""

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest
from opencc import OpenCC

from keju.errors import UsageError
from keju.published import audit_published, paper, papers, sections
from keju.published.audit import declared_checks
from tests.support import commanding
from tools import make_audit_page

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


def test_findings_come_with_their_words_in_both_languages():
    for name in papers():
        for check in declared_checks(name):
            for english in ("title", "holds", "says"):
                assert getattr(check, english), check.id
                assert getattr(check, f"{english}_zh"), check.id
            assert bool(check.consequence) == bool(check.consequence_zh), check.id
            for english in ("title", "says", "consequence"):
                chinese = getattr(check, f"{english}_zh")
                assert all_numbers(getattr(check, english)) == all_numbers(chinese), check.id


def test_summaries_have_five_lines_with_the_same_numbers_in_both_languages():
    for name in papers():
        summary = paper(name).summary
        assert len(summary.lines) == len(summary.lines_zh) == 5
        starts = [line.split("**")[1].split(" ")[0] for line in summary.lines]
        assert starts == ["Do", "Do", "Read", "Read", "Certain:"]
        pairs = zip(summary.lines, summary.lines_zh, strict=True)
        for english, chinese in (*pairs, (summary.version, summary.version_zh)):
            assert set(all_numbers(english)) - MONTHS == set(all_numbers(chinese)) - MONTHS


MONTHS = {"8", "9", "11"}


def all_numbers(text):
    """Every number of a text, names of tasks and tables with theirs."""
    return sorted(re.findall(r"\d+(?:[.,]\d+)*", text))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    make_audit_page.main(folder)
    return {each.name: each.read_text("utf-8") for each in folder.iterdir()}


@pytest.mark.parametrize(
    "name",
    ["audit.md", "audit.zh.md", "audit-claims.md", "audit-claims.zh.md", "audit-cells.csv"],
)
def test_the_pages_are_what_the_tool_writes(made, name):
    there = (ROOT / "docs" / name).read_text("utf-8")
    assert there == made[name], "make it again: python -m tools.make_audit_page"


def test_the_chinese_pages_are_simplified_throughout(made):
    for name in ("audit.zh.md", "audit-claims.zh.md"):
        assert OpenCC("t2s").convert(made[name]) == made[name]


def test_the_page_is_short(made):
    assert len(made["audit.md"].split()) <= 2900


def test_both_languages_have_the_same_findings_and_cells(made, audit):
    def parts(text, pattern):
        return re.findall(pattern, text, re.MULTILINE)

    english, chinese = made["audit.md"], made["audit.zh.md"]
    total = sum(len(sections(audit, name)) for name in papers())
    for pattern in (r"^#+ ", r"^####", r"^- ", r"^\|", r"†"):
        assert len(parts(english, pattern)) == len(parts(chinese, pattern)), pattern
    assert len(parts(english, r"^#### ")) == total
    counts = r"\d+/\d+(?=\|| cells| 格| ranks| 个名次)"
    assert parts(english, counts) == parts(chinese, counts)


def test_every_finding_and_cell_is_on_the_page_and_in_the_table(made, audit):
    for name in papers():
        for section in sections(audit, name):
            assert section.main.title.replace("<", "&lt;") in made["audit.md"]
            assert section.main.title_zh.replace("<", "&lt;") in made["audit.zh.md"]
    lines = list(csv.DictReader(io.StringIO(made["audit-cells.csv"].removeprefix("\ufeff"))))
    assert len(lines) == sum(len(each.mismatches) for each in audit.findings)
    first = lines[0]
    assert (first["finding"], first["ranks"], first["certainty"]) == (
        "t9-copies-t8", "32", "proved",
    )  # fmt: skip
    for each in audit.claims:
        assert each.claim.place in made["audit-claims.md"]


def test_sections_are_sorted_by_size(audit):
    for name in papers():
        found = [section.size.weight for section in sections(audit, name)]
        assert found == sorted(found, reverse=True)
    first = [sections(audit, name)[0].topic for name in papers()]
    assert first == ["t9-copies-t8", "metrics-follow-the-judge", "classification-in-one-round"]


def keju(*args, language="en"):
    environment = {**os.environ, "COLUMNS": "200", "KEJU_LANG": language}
    return commanding.keju("audit", *args, env=environment)


def test_the_command_finds_the_same_in_chinese():
    english, chinese = (
        keju("published", "--benchmark", "AncientDoc", language=each) for each in ("en", "zh")
    )
    assert (english.returncode, chinese.returncode) == (0, 0), chinese.stderr
    counts = [re.findall(r"\d+", each.stdout.splitlines()[-1]) for each in (english, chinese)]
    assert counts[0] == counts[1] != []
    assert "项发现" in chinese.stdout


def test_the_command_prints_the_summary_first_and_the_rest_on_request():
    short = keju("published", "--benchmark", "AncientDoc")
    assert short.returncode == 0
    assert "1. Do not use Char Precision, Char Recall and Char F1" in short.stdout
    assert "DeepSeek-VL2-Tiny" not in short.stdout
    assert re.search(r"\d+ claims of the text: not holding: \d+, ", short.stdout)
    whole = keju("published", "--benchmark", "AncientDoc", "--all").stdout
    assert whole.index("1. Do not use") < whole.index("21/27 ranks move")
    assert whole.index("21/27 ranks move") < whole.index("what holds") < whole.index("Method:")
    wrong = keju("published", "--benchmark", "nothing")
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1


def test_json_and_csv_have_the_weight_of_each_finding(tmp_path):
    path = tmp_path / "cells.csv"
    found = json.loads(keju("published", "--json", "--csv", str(path)).stdout)
    assert {each["severity"] for each in found["findings"]} == {
        "error", "conflict", "meaning", "marks", "caution",
    }  # fmt: skip
    assert {each["certainty"] for each in found["findings"]} == {"proved", "likely", "editorial"}
    sizes = {each["check"]: each["size"] for each in found["findings"]}
    assert sizes["t9-copies-t8"]["pairs"] == 29
    assert sizes["accuracy-is-a-count"]["ranks"] is None
    assert {each["verdict"] for each in found["claims"]} == {
        "holds", "holds with a qualification", "does not hold", "cannot be checked",
    }  # fmt: skip
    rows = list(csv.DictReader(path.open(encoding="utf-8-sig")))
    assert len(rows) == sum(len(each["mismatches"]) for each in found["findings"])
