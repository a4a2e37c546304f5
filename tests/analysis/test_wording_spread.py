"""Sensitivity to wording in a report, of runs against a real server."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from lxml import html

from keju.analysis.run_set import ModelResponses, load_runs
from keju.analysis.wording_spread import wording_spread
from keju.datasets.store import DatasetWriter
from keju.items import Item, PromptVariant, Score
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.serving import Chat

OPTIONS = ("論語", "孟子", "史記", "漢書")
PAGES = 8


@pytest.fixture(scope="module")
def runs(chat: Chat, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs in two wordings: the first answers right in one of them, the second in the other."""
    place = tmp_path_factory.mktemp("spread")
    with DatasetWriter(place / "d", name="w", version="1", licence="CC0-1.0", source="t") as writer:
        for number in range(PAGES):
            ref = writer.add_image(picture(number, side=40), str(number))
            writer.add(Item(id=str(number), benchmark="MCS-Bench", task="T7", images=(ref,),
                            options=OPTIONS, answer="B", answer_simplified="B",
                            group=f"book{number}"))  # fmt: skip
    prompts = place / "close.toml"
    prompts.write_text('[prompts.T7]\nask = "<i>Look</i> closely. {prompt}"\n', "utf-8")
    made = []
    for name, close, plain in (("one", "B", "A"), ("two", "A", "B")):
        chat.plan(finds=[["closely", close]], says=plain)
        done = keju("run", place / "d", "--model", f"openai:{name}", "--base-url", chat.url,
                    "--prompts", prompts, "--wording", "released",
                    "--out", place / name)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert keju("score", place / name).returncode == 0
        made.append(place / name)
    return made


def table(page: Path, head: str) -> list[list[str]]:
    tree = html.parse(page).getroot()
    (found,) = tree.xpath(f"//*[@id='{head}']/following-sibling::div[1]/table")
    return [[cell.text_content() for cell in row] for row in found.xpath("./tbody/tr")]


def test_differences_and_a_test_are_shown(runs: list[Path], tmp_path: Path):
    page = tmp_path / "r.html"
    done = keju("report", *runs, "-o", page)
    assert done.returncode == 0, done.stderr
    rows = [row for row in table(page, "wordings") if row[1] == "strict: Acc"]
    assert [row[2] for row in rows] == ["openai:one", "openai:two"]
    # The wordings are "released" and "close@…"; below the second is its difference.
    for row, values in zip(rows, (["0.0", "100.0+100.0"], ["100.0", "0.0-100.0"]), strict=True):
        assert row[3:6] == [*values, "100.0"]
        # Two of the 2^8 exchanges: .0078, by four rows (two models, two protocols).
        assert row[6:] == [".032", str(PAGES), str(PAGES)]
    text = page.read_text("utf-8")
    assert "<i>Look" not in text
    assert "&lt;i&gt;Look&lt;/i&gt; closely." in text


def test_a_report_of_one_wording_has_no_such_section(runs: list[Path], tmp_path: Path):
    chinese = tmp_path / "zh.html"
    assert keju("report", runs[0], "-o", chinese, "--language", "zh").returncode == 0
    assert "对提示词的敏感度" in chinese.read_text("utf-8")
    whole = load_runs(runs)
    whole.by_model = {n: v for n, v in whole.by_model.items() if v.variant.wording == "released"}
    assert wording_spread(whole).rows == []


def test_the_mean_over_tasks_has_a_row_and_all_rows_are_in_the_csv(chat: Chat, tmp_path: Path):
    data, run, prompts = tmp_path / "d", tmp_path / "run", tmp_path / "close.toml"
    with DatasetWriter(data, name="w", version="1", licence="CC0-1.0", source="t") as writer:
        for number in range(PAGES):
            ref = writer.add_image(picture(number, side=40), str(number))
            for task, answer in (("T7", "B"), ("T8", "A")):
                writer.add(Item(id=f"{task}-{number}", benchmark="MCS-Bench", task=task,
                                images=(ref,), options=OPTIONS, answer=answer,
                                answer_simplified=answer, group=f"book{number}"))  # fmt: skip
    ask = "Look closely. {prompt}"
    prompts.write_text(f'[prompts.T7]\nask = "{ask}"\n[prompts.T8]\nask = "{ask}"\n', "utf-8")
    chat.plan(finds=[["closely", "B"]], says="C")
    done = keju("run", data, "--model", "openai:one", "--base-url", chat.url, "--prompts", prompts,
                "--wording", "released", "--out", run)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert keju("score", run).returncode == 0
    page = tmp_path / "r.html"
    done = keju("report", run, "-o", page, "--csv", tmp_path / "csv")
    assert done.returncode == 0, done.stderr
    shown = [row for row in table(page, "wordings") if row[0] == "mean over tasks2"]
    assert [row[1] for row in shown] == ["official", "strict"]
    for row in shown:
        assert row[3:6] == ["0.0", "50.0+50.0", "50.0"]
        assert row[7:] == [str(2 * PAGES), str(PAGES)]
    rows = list(csv.DictReader((tmp_path / "csv/wordings.csv").open(encoding="utf-8-sig")))
    strict = [row for row in rows if row["protocol"] == "strict"]
    values = {
        (row["task"], row["wording"].partition("@")[0]): float(row["value"]) for row in strict
    }
    assert values == {
        ("T7", "close"): 1.0, ("T7", "released"): 0.0, ("T8", "close"): 0.0,
        ("T8", "released"): 0.0, ("", "close"): 0.5, ("", "released"): 0.0,
    }  # fmt: skip
    mean = {row["wording"].partition("@")[0]: row for row in strict if not row["task"]}
    assert (mean["close"]["base"], float(mean["close"]["difference_least"])) == ("released", 0.5)
    assert float(mean["close"]["difference_most"]) == 0.5
    assert mean["released"]["difference_least"] == ""
    assert [float(mean["released"][f"range_{end}"]) for end in ("least", "most")] == [0.5, 0.5]
    # 2 / 2^8, by the four rows that differ; two rows of T8 have p 1.
    assert float(mean["close"]["p"]) == 2 / 2**8
    assert float(mean["close"]["p_adjusted"]) == pytest.approx(6 * 2 / 2**8)


def test_equal_wordings_have_differences_whose_intervals_contain_0_and_no_interval_of_a_spread():
    """Fault 4 of the study: the spread of five equal wordings had an interval above 0."""
    generator = np.random.default_rng(2)
    rates = generator.beta(2, 2, 12)
    words = ["released", "a", "b", "c", "d"]
    scores = [
        Score(key="k", item=f"{book}-{number}", model=f"m · {word}", benchmark="MCS-Bench",
              task="T7", protocol="strict", metric="Acc", value=right, wording=word,
              group=f"book {book}", stats={"numerator": right, "denominator": 1.0})
        for word in words
        for book in range(12)
        for number in range(10)
        for right in [float(generator.random() < rates[book])]
    ]  # fmt: skip
    by_model = {
        f"m · {word}": ModelResponses("m", "run", PromptVariant(wording=word), "") for word in words
    }
    mains = {"strict": {("T7", ""): scores}, "official": {}}
    (row,) = wording_spread(SimpleNamespace(by_model=by_model, mains=mains)).rows
    assert row.base == "released"
    assert row.spread[0] == row.spread[1] > 0.02
    assert row.p > 0.05
    assert row.values["released"].interval is None
    for word in words[1:]:
        found = row.values[word]
        assert found.interval.low < 0 < found.interval.high
        assert found.interval.low < found.least < found.interval.high
        assert found.least == found.most == found.value - row.values["released"].value


def test_two_wordings_of_one_model_are_compared_by_their_names(runs: list[Path]):
    done = keju("compare", runs[0], "--wording", "close", "--wording", "released", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["tasks"]
    assert (row["first"], row["second"]) == (1.0, 0.0)
    assert row["p"] < 0.05
