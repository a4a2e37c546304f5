"""Step ``dedup-texts``: what is kept, what is dropped for what, and what is not a duplicate."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

from keju.building.dedup.groups import CLUSTER, shorten_hash
from keju.building.dedup.texts import DedupTextsSettings, deduplicate_texts, group_texts
from keju.building.engine import Engine
from keju.datasets.store import Dataset, DatasetWriter
from keju.files import sha256_bytes
from keju.items import ImageRef, Item
from tests.support.builds import bench_over, need_ray, run_keju
from tests.support.making import make_dataset, picture

PASSAGE = (
    "北冥有魚其名爲鯤鯤之大不知其幾千里也化而爲鳥其名爲鵬鵬之背不知其幾千里也怒而飛其翼若垂天之雲是鳥也"
    "海運則將徙於南冥南冥者天池也齊諧者志怪者也諧之言曰鵬之徙於南冥也水擊三千里摶扶搖而上者九萬里去以六月息者也"
    "野馬也塵埃也生物之以息相吹也天之蒼蒼其正色邪其遠而無所至極邪其視下也亦若是則已矣"
)
LONG_QUESTION = (
    "文中說鵬往南方去的時候要等六月的大風，請說明作者寫這一段是要說什麼道理，並舉出文中的字句為證"
)


def ref(seed: int) -> ImageRef:
    return ImageRef(
        path=f"images/{seed}.png", sha256=sha256_bytes(b"%d" % seed), width=9, height=9, size=1
    )


def page(name: str, image: int, answer: str = PASSAGE, **fields: object) -> Item:
    settings = {"benchmark": "MCS-Bench", "task": "T1", **fields}
    return Item(id=name, images=(ref(image),), answer=answer, **settings)


def asked(name: str, image: int, question: str, answer: str, **fields: object) -> Item:
    settings = {"benchmark": "MCS-Bench", "task": "T6", **fields}
    return Item(id=name, images=(ref(image),), question=question, answer=answer, **settings)


def groups(*items: Item, **settings: object) -> list[list[str]]:
    found = group_texts(items, DedupTextsSettings(**settings))
    return [[items[at].id for at in group] for group in found.groups]


def test_a_slip_in_a_long_text_is_a_duplicate():
    assert groups(page("a", 1), page("b", 1, PASSAGE.replace("鳥", "烏", 1))) == [["a", "b"]]


def test_the_same_answer_about_another_picture_is_none():
    assert groups(page("a", 1), page("b", 2)) == []
    assert groups(page("a", 1), page("b", 2), same_image="never") == [["a", "b"]]


def test_by_the_papers_rule_the_similarity_of_the_pair_alone_decides():
    # Trigram Jaccard .97: two texts about two images, whose answers differ by more than a slip.
    question = LONG_QUESTION + PASSAGE
    two = (asked("a", 1, question, "鵬"), asked("b", 2, question, "鯤"))
    assert groups(*two) == []
    assert groups(*two, jaccard_alone=True) == [["a", "b"]]
    assert groups(page("a", 1), page("b", 2), jaccard_alone=True) == [["a", "b"]]


def test_by_the_papers_rule_a_choice_is_compared_with_its_image():
    # Section 2.3, Table 5: the 125 items of T13 have one question with one list of options.
    def choice(name: str, image: int, letter: str) -> Item:
        fields = {
            "task": "T13",
            "options": ("篆书", "隶书", "楷书"),
            "question": "图中是什么字体？",
        }
        return page(name, image, letter, **fields)

    three = (choice("a", 1, "A"), choice("b", 2, "A"), choice("c", 1, "B"))
    assert groups(*three, jaccard_alone=True) == []
    assert groups(*three, choice("d", 1, "A"), jaccard_alone=True) == [["a", "d"]]


def test_pictures_that_fall_together_are_one():
    clustered = page("b", 2, metadata={CLUSTER: shorten_hash(ref(1).sha256)})
    assert groups(page("a", 1), clustered) == [["a", "b"]]


def test_a_question_of_few_words_is_about_its_picture():
    assert groups(asked("a", 1, "作者是誰？", "莊子"), asked("b", 2, "作者是誰？", "莊子")) == []


def test_a_question_of_many_words_stands_without_its_picture():
    two = asked("a", 1, LONG_QUESTION, PASSAGE), asked("b", 2, LONG_QUESTION, PASSAGE)
    assert groups(*two) == [["a", "b"]]
    assert groups(*two, same_image="always") == []


def test_a_long_question_asked_of_three_pictures_is_a_template():
    assert groups(*(asked(name, at, LONG_QUESTION, PASSAGE) for at, name in enumerate("abc"))) == []


def test_another_short_answer_to_the_same_long_question_is_no_duplicate_but_a_conflict():
    two = asked("a", 1, PASSAGE, "莊子"), asked("b", 1, PASSAGE, "老子")
    assert groups(*two) == []


def test_tasks_are_never_mixed():
    assert groups(page("a", 1), page("b", 1, task="T8")) == []


def test_texts_without_pictures_are_compared():
    two = page("a", 1), page("b", 1, PASSAGE[:-1])
    bare = [Item(id=each.id, benchmark="MCS-Bench", task="T1", answer=each.answer) for each in two]
    assert groups(*bare) == [["a", "b"]]


def test_a_pair_on_both_sides_of_the_limit_of_own_words_is_found():
    """One question has 30 characters of its own, the other 29; the picture is the same."""
    question = LONG_QUESTION[:31]
    two = asked("a", 1, question, PASSAGE * 4), asked("b", 1, question[:-1], PASSAGE * 4)
    assert groups(*two, own_words=30) == [["a", "b"]]


@pytest.fixture
def given(tmp_path: Path) -> Path:
    with DatasetWriter(
        tmp_path / "given", name="g", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        image = writer.add_image(picture(1), "1")
        other = writer.add_image(picture(2), "2")
        base = {"benchmark": "MCS-Bench", "task": "T1", "images": (image,)}
        slip = PASSAGE.replace("鵬", "朋", 1)
        twice = slip.replace("冥", "溟", 1)
        writer.add(Item(id="draft", answer=PASSAGE + "也也", draft=True, **base))
        writer.add(Item(id="kept", answer=PASSAGE, **base))
        writer.add(Item(id="marks", answer=PASSAGE[:9] + "，" + PASSAGE[9:-1], **base))
        writer.add(Item(id="same", answer=PASSAGE, **base))
        writer.add(Item(id="slip", answer=slip, **base))
        writer.add(Item(id="twice", answer=twice, **base))
        writer.add(Item(id="other", answer=PASSAGE, **{**base, "images": (other,)}))
        writer.add(Item(id="unlike", answer=PASSAGE[:60], **base))
    return tmp_path / "given"


def test_the_step_keeps_one_and_lists_the_others(given, tmp_path):
    context = bench_over(given, tmp_path / "out", "dedup-texts")
    deduplicate_texts(context, DedupTextsSettings())
    context.writer.close()
    kept = Dataset.open(tmp_path / "out").items()
    before = {item.id: item for item in Dataset.open(given).items()}
    # The reviewed go before drafts, and of those the longest answer is kept.
    assert [item.id for item in kept] == ["kept", "other", "unlike"]
    assert all(item == before[item.id] for item in kept)
    rows = {
        row["dropped"]: row
        for row in pl.read_csv(tmp_path / "out/tables/duplicates.csv").to_dicts()
    }
    assert {row["kept"] for row in rows.values()} == {"kept"}
    kinds = {name: row["kind"] for name, row in rows.items()}
    assert kinds == {
        "draft": "near", "marks": "near", "same": "exact", "slip": "near", "twice": "near",
    }  # fmt: skip
    assert rows["same"]["similarity"] == 1
    assert rows["twice"]["similarity"] < rows["slip"]["similarity"]
    assert rows["twice"]["link"] >= 0.95
    conflicts = pl.read_csv(tmp_path / "out/tables/conflicts.csv").to_dicts()
    assert {(row["item"], row["other"]) for row in conflicts} == {("draft", "unlike")}
    assert "5 of 8 items dropped" in context.notes[0]


def test_nothing_doubled_leaves_everything_as_it_was(tmp_path):
    make_dataset(tmp_path / "given", pages=3)
    context = bench_over(tmp_path / "given", tmp_path / "out", "dedup-texts")
    deduplicate_texts(context, DedupTextsSettings())
    assert context.writer.close().hash == Dataset.open(tmp_path / "given").manifest.hash


def many(count: int) -> list[Item]:
    draw = random.Random(5)
    made: list[Item] = []
    for number in range(count):
        start = draw.randrange(len(PASSAGE) - 60)
        answer = list(PASSAGE[start:] + PASSAGE[:start])
        draw.shuffle(answer)
        if made and draw.random() < 0.3:
            answer = list(draw.choice(made).answer)
            answer[draw.randrange(len(answer))] = "甲"
        made.append(page(str(number), number % 3, "".join(answer)))
    return made


def test_the_engine_gives_the_same_groups(tmp_path):
    items = many(1300)
    here = group_texts(items, DedupTextsSettings())
    there = group_texts(items, DedupTextsSettings(), Engine(scratch=tmp_path))
    assert here.groups
    assert there.groups == here.groups
    assert there.compared == here.compared


@pytest.mark.slow
def test_ray_makes_the_same_dataset(given, tmp_path):
    need_ray()
    for engine in ("native", "ray"):
        done = run_keju(
            "build", "dedup-texts", given, "--out", tmp_path / engine, "--engine", engine
        )
        assert done.returncode == 0, done.stderr
    native, ray = (Dataset.open(tmp_path / engine) for engine in ("native", "ray"))
    assert native.manifest.hash == ray.manifest.hash
    table = "tables/duplicates.csv"
    assert (native.path / table).read_bytes() == (ray.path / table).read_bytes()
