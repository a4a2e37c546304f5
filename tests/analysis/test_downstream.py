"""Reading against answering, over models and over items."""

from __future__ import annotations

import msgspec
import pytest

from keju.analysis.downstream import downstream
from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.reporting.page import write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.scored_runs import picture

PAGES = 12
TEXT = "天地玄黃宇宙洪荒日月盈昃辰宿列張"


@pytest.fixture
def pages_run(tmp_path, monkeypatch):
    """Model m reads m more characters wrong on every page; who reads a page well knows its book.

    On page n model m makes n + m mistakes, and answers rightly where they are 7 or fewer.
    """
    monkeypatch.chdir(tmp_path)
    with DatasetWriter(
        tmp_path / "set", name="d", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        for n in range(PAGES):
            image = writer.add_image(picture(40 + n), f"p{n}")
            about = {"benchmark": "MCS-Bench", "images": (image,), "group": f"book {n}"}
            writer.add(Item(id=f"p{n}", task="T1", answer=TEXT, **about))
            writer.add(Item(id=f"q{n}", task="T7", answer="A", options=("甲", "乙"), **about))
    for m in range(5):
        answers = {f"p{n}": "口" * min(n + m, 16) + TEXT[n + m :] for n in range(PAGES)}
        answers |= {f"q{n}": "A" if n + m <= 7 else "B" for n in range(PAGES)}
        lines = [msgspec.json.encode({"item": i, "text": t}) for i, t in answers.items()]
        (tmp_path / f"m{m}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    run(tmp_path / "set", [f"replay:m{m}.jsonl" for m in range(5)], tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    return tmp_path / "run"


def test_over_models_and_over_items(pages_run):
    first, *others = downstream(load_runs([pages_run]))
    assert (first.task, first.model, first.pairs, first.groups) == ("T7", "", 5, 5)
    assert (first.spearman.value, first.kendall.value) == pytest.approx((1, 1))
    assert [each.model for each in others] == [f"replay:m{m}.jsonl" for m in range(5)]
    own = others[0]
    assert (own.readers, own.pairs, own.groups) == ("its own transcription", 12, 12)
    assert own.spearman.value > 0.7
    bounds = own.spearman.interval
    assert bounds.low <= own.spearman.value <= bounds.high
    # Its six best pages are read with 0 to 5 mistakes, all answered; of the others two.
    assert (own.better, own.worse) == (1.0, pytest.approx(2 / 6))


def test_it_stands_in_the_page(pages_run, tmp_path):
    page = write_report([pages_run], tmp_path / "r.html").page.read_text("utf-8")
    assert 'id="downstream"' in page


def test_two_models_say_nothing(scored_run):
    assert downstream(load_runs([scored_run])) == []
