"""A model graded on its own drafts: said beside the leaderboard and by the audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import html

from keju.datasets.store import DatasetWriter
from keju.items import Item, Provenance
from keju.published import audit_run
from keju.reporting.page import write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import picture

PAGES = 5
OWN = "this model itself drafted 3 of 5 items"


@pytest.fixture(scope="module")
def graded(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[Path, str, str]:
    """A scored run over five pages, of which the first model drafted three; and both names."""
    folder = tmp_path_factory.mktemp("drafts")
    specs = []
    for name in ("drafter", "other"):
        file = folder / f"{name}.jsonl"
        lines = [json.dumps({"item": f"p{n}", "text": "天地"}) for n in range(PAGES)]
        file.write_text("\n".join(lines) + "\n", "utf-8")
        specs.append(f"replay:{file}")
    with DatasetWriter(
        folder / "set", name="d", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        for n in range(PAGES):
            past = (
                Provenance(step="draft", tool=specs[0] if n < 3 else "ppocr"),
                Provenance(step="review", person="Wang", note="accepted"),
            )
            writer.add(
                Item(
                    id=f"p{n}",
                    benchmark="MCS-Bench",
                    task="T1",
                    images=(writer.add_image(picture(n), f"p{n}"),),
                    answer="天地",
                    provenance=past,
                    draft=n == 0 and getattr(request, "param", "") == "unaccepted",
                )
            )
    run(folder / "set", specs, folder / "run")
    score_run(RunFolder.open(folder / "run"))
    return (folder / "run", *RunFolder.open(folder / "run").manifest().models)


def said(page: Path) -> list[str]:
    tree = html.fromstring(page.read_text("utf-8"))
    return [each.text_content() for each in tree.xpath("//p[contains(@class, 'soft')]")]


def test_the_leaderboard_says_it_of_the_drafter_alone(graded, tmp_path):
    path, drafter, other = graded
    write_report([path], tmp_path / "report.html")
    lines = [each for each in said(tmp_path / "report.html") if "itself drafted" in each]
    assert lines == [f"{drafter}: {OWN} (accepted or corrected by a person), which favours it."], (
        "of the other not a word"
    )
    write_report([path], tmp_path / "zh.html", language="zh")
    assert [each for each in said(tmp_path / "zh.html") if f"{drafter}：3/5 题由该模型自己" in each]
    assert other in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("graded", ["unaccepted"], indirect=True)
def test_what_nobody_accepted_is_not_called_accepted(graded, tmp_path):
    write_report([graded[0]], tmp_path / "report.html")
    (line,) = [
        each for each in said(tmp_path / "report.html") if "this model itself drafted" in each
    ]
    assert f"{OWN} (1 of them not yet accepted)" in line


def test_the_audit_finds_it(graded):
    path, drafter, _ = graded
    (found,) = [each for each in audit_run(path).findings if each.check == "own-drafts"]
    assert found.place == drafter
    assert [(each.where, each.printed) for each in found.mismatches] == [("T1", "3 of 5 items")]
    assert "favour" in found.consequence
    (held,) = [each for each in audit_run(path).held if each.check == "own-drafts"]
    assert (held.places, held.compared) == (1, PAGES)
