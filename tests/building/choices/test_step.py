"""Step ``make-choices`` and command ``check-choices``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from keju.building.choices.step import MakeChoicesSettings, make_choices_of_items
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.definitions import prompt_of
from keju.errors import DataError, UsageError
from keju.items import Item
from tests.support.builds import bench_over, run_keju
from tests.support.making import picture
from tests.support.planted import CALLIGRAPHERS


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    """Works with their maker's name in metadata, questions with short answers, and one page."""
    path = tmp_path_factory.mktemp("choices") / "given"
    with DatasetWriter(
        path, name="g", version="1", licence="CC0-1.0", source="made by the tests"
    ) as writer:
        images = [writer.add_image(picture(number), str(number)) for number in range(60)]
        base = {"benchmark": "MCS-Bench", "task": "T9"}
        for at, image in enumerate(images):
            maker = {"maker": CALLIGRAPHERS[at * at % 13]} if at else {}
            writer.add(
                Item(
                    id=f"w{at}", images=(image,), answer="此卷行筆從容。", metadata=maker,
                    group=f"album{at % 20}", also_accepted=("從容",), **base,
                )
            )  # fmt: skip
        ask = {"benchmark": "MCS-Bench", "task": "T21", "question": "畫中人手持何物？"}
        for at, held in enumerate(["書卷", "羽扇", "竹杖", "酒杯", "古琴"]):
            writer.add(
                Item(
                    id=f"s{at}", images=(images[at],), answer=held,
                    metadata={"kind": "thing"}, also_accepted=("竹杖",) if at == 0 else (), **ask,
                )
            )  # fmt: skip
        writer.add(
            Item(id="s5", images=(images[0],), answer="拂塵", metadata={"kind": "thing"}, **ask)
        )
        writer.add(
            Item(id="page", benchmark="MCS-Bench", task="T1", images=images[:1], answer="天")
        )
    return path


def run(given: Path, out: Path, **settings: object) -> tuple[dict[str, Item], Path, list[str]]:
    context = bench_over(given, out, "make-choices", seed=3)
    make_choices_of_items(context, MakeChoicesSettings(**settings))
    context.writer.close()
    return {item.id: item for item in Dataset.open(out).items()}, out / "tables", context.notes


def test_records_become_questions_of_the_task_named(given, tmp_path):
    items, tables, notes = run(given, tmp_path / "out", to="T10", answer="maker")
    made = [item for item in items.values() if item.task == "T10"]
    assert len(made) == 59
    before = {item.id: item for item in Dataset.open(given).items()}
    for item in made:
        assert item.options["ABCD".index(item.answer)] == before[item.id].metadata["maker"]
        assert item.answer_simplified == item.answer
        assert item.also_accepted == ()
        assert item.images == before[item.id].images
        assert item.group == before[item.id].group
        assert item.provenance[-1].step == "make-choices"
        assert f"A、{item.options[0]}" in prompt_of(item)
    assert sorted(Counter(item.answer for item in made).values()) == [14, 15, 15, 15]
    assert items["page"] == before["page"]
    assert items["s0"] == before["s0"]
    # w0 has no maker: it was not taken, and stays what it was.
    assert items["w0"] == before["w0"]
    assert {row["verdict"] for row in pl.read_csv(tables / "leaks.csv").to_dicts()} <= {
        "clean", "too few",
    }  # fmt: skip
    uses = pl.read_csv(tables / "option-use.csv").to_dicts()
    assert sum(row["right"] for row in uses) == 59
    assert sum(row["wrong"] for row in uses) == 3 * 59
    assert all(abs(row["wrong"] - 3 * row["right"]) <= 6 for row in uses)
    assert notes[0] == "59 multiple-choice questions made, 0 items dropped"
    assert not [str(each) for each in validate(tmp_path / "out") if each.severity == "error"]


def test_short_answers_of_a_category_with_what_cannot_be_made(given, tmp_path):
    items, tables, _ = run(given, tmp_path / "out", to="T10", category="kind", options=4)
    rows = {row["subject"]: row["reason"] for row in pl.read_csv(tables / "dropped.csv").to_dicts()}
    assert not rows
    # 竹杖 is accepted for s0, and 拂塵 is the answer to the same question about its picture.
    assert not {"竹杖", "拂塵"} & {*items["s0"].options}
    assert "書卷" not in items["s5"].options


def test_what_is_not_made_is_left_out_and_says_why(given, tmp_path):
    items, tables, _ = run(given, tmp_path / "out", to="T10", answer="maker", tasks=("T9", "T21"))
    rows = pl.read_csv(tables / "dropped.csv").to_dicts()
    assert {row["subject"] for row in rows} == {"w0", "s0", "s1", "s2", "s3", "s4", "s5"}
    assert {row["reason"] for row in rows} == {"no metadata 'maker'"}
    assert "w0" not in items


def test_too_small_pools_are_an_error_when_nothing_can_be_made(given, tmp_path):
    with pytest.raises(DataError, match="fewer than 6 of the 6 answers of pool 'thing'"):
        run(given, tmp_path / "out", to="T10", category="kind", options=7)


def test_a_task_without_letters_is_refused(given, tmp_path):
    with pytest.raises(UsageError, match="does not ask for a letter"):
        run(given, tmp_path / "out", to="T1")


def test_a_blank_that_nothing_fills_is_named(given, tmp_path):
    with pytest.raises(DataError, match="term"):
        run(given, tmp_path / "out", to="T5", answer="maker")


def test_the_same_seed_makes_the_same_dataset(given, tmp_path):
    for name in ("one", "two"):
        run(given, tmp_path / name, to="T10", answer="maker")
    one, two = (Dataset.open(tmp_path / name).manifest.hash for name in ("one", "two"))
    assert one == two


def test_the_commands(given, tmp_path):
    out = tmp_path / "out"
    done = run_keju(
        "build", "make-choices", given, "--out", out, "--to", "T10", "--answer", "maker"
    )
    assert done.returncode == 0, done.stderr
    assert "59 multiple-choice questions made" in done.stdout
    checked = run_keju("build", "check-choices", out)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "0 leaks in 5 checks" in checked.stdout


def test_a_dataset_without_choices_is_refused(given):
    done = run_keju("build", "check-choices", given)
    assert done.returncode == 2
    assert "no multiple-choice questions" in done.stderr


def test_the_command_names_leaks_with_status_1(tmp_path):
    with DatasetWriter(
        tmp_path / "leaky", name="l", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        for at in range(60):
            options = (CALLIGRAPHERS[at % 7], CALLIGRAPHERS[7 + at % 9], f"{CALLIGRAPHERS[16]}先生")
            writer.add(
                Item(id=f"q{at}", benchmark="MCS-Bench", task="T10", options=options, answer="C")
            )
    done = run_keju("build", "check-choices", tmp_path / "leaky", "--json")
    assert done.returncode == 1
    verdicts = {row["check"]: row["verdict"] for row in json.loads(done.stdout)}
    assert verdicts["longest"] == verdicts["position"] == verdicts["blind"] == "leak"
