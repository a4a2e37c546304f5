"""``keju bundle`` and ``keju verify``: what they print in both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from keju import __version__
from keju.bundles.verification import AuditFinding, Outcome, Verification
from keju.cli.output.verification_tables import detail_lines
from keju.runs import RunFolder
from tests.support.printed_lines import printed


@pytest.mark.parametrize(
    ("language", "meaning"),
    [("en", "It does not mean that the named model produced"), ("zh", "并不表示这些回答确实出自")],
)
def test_who_verified_when_with_which_version_and_what_it_means(
    scored_run: Path, language: str, meaning: str
) -> None:
    folder = scored_run.parent
    done, named, unnamed = printed(
        folder,
        [
            ["bundle", "run", "-o", "x.keju.zip"],
            ["verify", "x.keju.zip", "--dataset", "set", "--verified-by", "Wang Li", "--output",
             "statement.json"],
            ["verify", "x.keju.zip", "--dataset", "set"],
        ],
        language,
    )  # fmt: skip
    assert (done.status, named.status, unnamed.status) == (0, 0, 0)
    statement = json.loads((folder / "statement.json").read_text("utf-8"))
    assert (statement["verified_by"], statement["keju"]) == ("Wang Li", __version__)
    assert re.fullmatch(r"20[0-9-]{8}T[0-9:]{8}\+00:00", statement["verified"])
    for part in ("Wang Li", __version__, statement["verified"], "environment.json"):
        assert part in named.text, part
    assert "Wang Li" not in unnamed.text
    for each in (named, unnamed):
        assert meaning in "".join(each.text.split("\n"))


def test_the_result_comes_first_and_the_audit_is_counted_or_listed(scored_run: Path) -> None:
    verify = ["verify", "x.keju.zip", "--dataset", "set"]
    _, short, full = printed(
        scored_run.parent,
        [["bundle", "run", "-o", "x.keju.zip"], verify, [*verify, "--verbose"]],
        "en",
    )
    assert short.text.startswith("x.keju.zip: verified")
    found = full.text.count("Audit: ")
    assert found
    assert "Audit: " not in short.text
    assert f"{found} finding" in short.text


@pytest.mark.parametrize(
    ("result", "verbose", "listed"),
    [("verified", False, False), ("verified", True, True), ("incomplete", False, True),
     ("differs", False, True)],
)  # fmt: skip
def test_the_audit_is_listed_for_a_bundle_that_is_not_verified(
    result: Outcome, verbose: bool, listed: bool
) -> None:
    finding = AuditFinding(check="c", severity="notice", place="T1", says="few items")
    found = Verification(
        bundle="b", bundle_sha256="", result=result, meaning="", verified="", keju="", command="",
        environment={}, audit=(finding,),
    )  # fmt: skip
    assert any("few items" in line for line in detail_lines(found, verbose=verbose)) == listed


@pytest.mark.parametrize("verbose", [False, True])
def test_equal_findings_of_the_audit_are_one_line(verbose: bool) -> None:
    findings = tuple(
        AuditFinding(check="c", severity="notice", place=f"T{n}", says=says)
        for says in ("few items", "many failures")
        for n in range(3)
    )
    found = Verification(
        bundle="b", bundle_sha256="", result="incomplete", meaning="", verified="", keju="",
        command="", environment={}, audit=findings,
    )  # fmt: skip
    lines = list(detail_lines(found, verbose=verbose))
    assert len(lines) == (6 if verbose else 2)
    assert verbose or lines[0] == "Audit: T0 and 2 places more: few items"


@pytest.mark.parametrize(("language", "word"), [("en", "Label"), ("zh", "标签")])
def test_the_label_of_a_run_is_shown_with_its_scores(
    scored_run: Path, language: str, word: str
) -> None:
    (before,) = printed(scored_run.parent, [["score", "run"]], language)
    folder = RunFolder.open(scored_run)
    content = json.loads(folder.manifest_path.read_text("utf-8"))
    content["settings"]["label"] = "checkpoint-300"
    folder.manifest_path.write_text(json.dumps(content), "utf-8")
    (after,) = printed(scored_run.parent, [["score", "run"]], language)
    assert (before.status, after.status) == (0, 0)
    assert "checkpoint-300" not in before.text
    (line,) = (each for each in after.text.splitlines() if "checkpoint-300" in each)
    assert word in line
