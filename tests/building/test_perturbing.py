"""Controls against recitation: what is altered, and that a reader and a reciter are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from keju.building.perturbing.altering import Alphabet, alter_lines, load_look_alikes
from keju.building.perturbing.step import STEP, PerturbSettings
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError
from keju.items import Item, Line, Response
from keju.metrics import distance
from keju.runs import record_list
from keju.scoring.memorization import altered_places, measure_memorization
from keju.text import normalise
from tests.support.builds import bench_over
from tests.support.making import make_dataset, page_item, picture

ROWS = (
    "大學之道在明明德在親民在止於至善",
    "知止而后有定定而后能靜靜而后能安",
    "物有本末事有終始知所先後則近道矣",
    "古之欲明明德於天下者先治其國欲治",
)
ALPHABET = Alphabet(ROWS)
KINDS = ["look-alike", "other", "swapped", "blanked"]


def rng(seed=0):
    return np.random.default_rng(seed)


def test_look_alikes_go_both_ways_and_are_other_characters_at_every_layer():
    table = load_look_alikes()
    assert len(table) > 250
    for sign, others in table.items():
        for other in others:
            assert sign in table[other]
            assert normalise(sign) != normalise(other)


@pytest.mark.parametrize("kind", KINDS)
def test_altering_keeps_lines_and_changes_what_it_says(kind):
    new, count = alter_lines(ROWS, kind, rng(), share=0.05, alphabet=ALPHABET)
    assert 1 <= count <= 3
    assert [len(line) for line in new] == [len(line) for line in ROWS]
    changed = sum(distance(a, b) for a, b in zip(ROWS, new, strict=True))
    assert changed == count * (2 if kind == "swapped" else 1)
    assert len(altered_places("\n".join(new), "\n".join(ROWS))) == count
    assert all(a[:2] + a[-2:] == b[:2] + b[-2:] for a, b in zip(ROWS, new, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_chance_is_the_seeds(kind):
    made = [
        alter_lines(ROWS, kind, rng(seed), share=0.02, alphabet=ALPHABET) for seed in (1, 1, 2, 3)
    ]
    assert made[0] == made[1]
    assert not made[1] == made[2] == made[3]


def test_another_character_is_as_frequent_and_no_look_alike():
    texts = ["之" * 90 + "日" * 50 + "曰" * 50 + "天" * 49 + "地" * 10]
    for seed in range(20):
        assert Alphabet(texts).find_as_frequent("日", rng(seed)) in {"之", "天", "地"}
    assert Alphabet(texts).find_as_frequent("鬱", rng()) == ""


def test_where_nothing_can_be_altered_nothing_is():
    assert alter_lines(["天地"], "blanked", rng(), share=0.1, alphabet=ALPHABET) == (["天地"], 0)
    assert alter_lines([], "other", rng(), share=0.1, alphabet=ALPHABET) == ([], 0)


def page(name: str, group: str, rows=ROWS, **fields) -> Item:
    lines = [Line(id=str(at), text=row, polygon=((9 * at, 0), (9 * at + 8, 0), (9 * at, 90)))
             for at, row in enumerate(rows)]  # fmt: skip
    lines.append(Line(id="n", text="一", kind="number"))
    answer = "\n".join(rows)
    return Item(id=name, benchmark="AncientDoc", task="page_level_ocr", answer=answer,
                transcription=answer, lines=tuple(lines), group=group, **fields)  # fmt: skip


def built(tmp_path, given, **settings):
    make_dataset(tmp_path / "given", given)
    context = bench_over(tmp_path / "given", tmp_path / "out", STEP.name)
    with context.writer:
        STEP.run(context, PerturbSettings(**settings))
    return Dataset.open(tmp_path / "out").items(), context.notes


def test_originals_stay_and_each_control_is_tied_to_its_own(tmp_path):
    given = [page("a", "g"), page("b", "h")]
    items, notes = built(tmp_path, given)
    assert items[:2] == given
    controls = items[2:]
    assert len(controls) == 8
    assert len(notes) == 4
    originals = {item.id: item for item in given}
    for control in controls:
        first = originals[control.metadata["control_of"]]
        assert control.id == f"{first.id}--{control.metadata['control']}"
        assert control.group == first.group
        assert control.answer != first.answer
        assert control.answer == control.transcription
        assert "\n".join(line.text for line in control.lines[:-1]) == control.answer
        assert control.lines[-1] == first.lines[-1]
        assert [line.polygon for line in control.lines] == [line.polygon for line in first.lines]
        assert control.provenance[-1].step == "perturb"


def test_rule_driven_models_are_told_apart(tmp_path):
    """One gives what stands on the page, one the text that it knows, the third half of each."""
    items, _ = built(tmp_path, [page("a", "g"), page("b", "h")], share=0.05)
    known = {item.id: item.answer for item in items}

    def says(model, item):
        text = known[item.metadata.get("control_of", item.id)]
        rows = zip(item.answer.split("\n"), text.split("\n"), strict=True)
        mixed = "\n".join(own if at % 2 else right for at, (own, right) in enumerate(rows))
        return {"reads": item.answer, "recites": text, "both": mixed}[model]

    answers = [Response(key=model + item.id, item=item.id, model=model, benchmark=item.benchmark,
                        task=item.task, status="answered", text=says(model, item))
               for model in ("reads", "recites", "both") for item in items]  # fmt: skip
    found = measure_memorization(items, answers)
    by_model = {model: [each for each in found if each.model == model] for model in
                ("reads", "recites", "both")}  # fmt: skip
    assert all((each.read, each.recited) == (each.places, 0) for each in by_model["reads"])
    assert all((each.read, each.recited) == (0, each.places) for each in by_model["recites"])
    both = by_model["both"]
    assert 0 < sum(each.recited for each in both) < sum(each.places for each in both)
    assert all(each.slips == 0 for each in found)


def test_a_wrong_page_shows_another_groups_picture(tmp_path):
    with DatasetWriter(tmp_path / "given", name="n", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        refs = [writer.add_image(picture(seed), "p") for seed in range(2)]
        writer.add(page("a", "g", images=(refs[0],)))
        writer.add(page("b", "h", rows=ROWS[:1], images=(refs[1],)))
        for name, place in (("m", 0), ("n", 1)):
            writer.add(Item(id=name, benchmark="MCS-Bench", task="T5", question="何書？",
                            options=("論語", "大學", "孟子", "中庸"), answer="B", group=name,
                            images=(refs[place],)))  # fmt: skip
    context = bench_over(tmp_path / "given", tmp_path / "out", STEP.name)
    with context.writer:
        STEP.run(context, PerturbSettings(kinds=("wrong-page",)))
    items = {item.id: item for item in Dataset.open(tmp_path / "out").items()}
    assert items["a--wrong-page"].images == items["b"].images
    assert items["a--wrong-page"].answer == items["b"].answer
    letter = items["m--wrong-page"]
    assert (letter.images, letter.answer) == (items["n"].images, "B")
    said = [Response(key=n, item=n, model="m", benchmark=items[n].benchmark, task=items[n].task,
                     status="answered", text=text)
            for n, text in (("m--wrong-page", "答案：B"), ("n--wrong-page", "D"))]  # fmt: skip
    (found,) = measure_memorization(items.values(), said)
    assert (found.recited, found.neither, found.places) == (1, 1, 2)


def test_what_cannot_be_made_a_control_is_an_error(tmp_path):
    with pytest.raises(DataError, match="before typeset"):
        built(tmp_path, [page_item("a")])


def test_controls_are_the_same_with_items_on_disk(tmp_path, monkeypatch):
    with DatasetWriter(tmp_path / "given", name="n", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        for number in range(6):
            ref = writer.add_image(picture(number), "p")
            writer.add(page(f"p{number}", f"g{number // 2}", images=(ref,)))
    settings = PerturbSettings(kinds=("other", "swapped", "wrong-page"), items=4)
    made = {}
    monkeypatch.setattr(Dataset, "items", lambda _: pytest.fail("all items were read into memory"))
    for most in (10_000, 1):
        monkeypatch.setattr(record_list, "MOST_IN_MEMORY", most)
        out = tmp_path / f"out-{most}"
        context = bench_over(tmp_path / "given", out, STEP.name)
        with context.writer:
            STEP.run(context, settings)
        tables = (out / "tables/controls.csv").read_bytes()
        made[most] = Dataset.open(out).manifest.hash, tables, context.notes
    assert made[1] == made[10_000]
    assert len(Dataset.open(out)) == 18


def test_only_so_many_are_made_by_lot(tmp_path):
    items, _ = built(tmp_path, [page(str(n), "g") for n in range(5)], kinds=("blanked",), items=2)
    assert len(items) == 7
