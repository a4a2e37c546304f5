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


def choice(name: str, image: int, letter: str) -> Item:
    """An item of T13: its 125 items have one question with one list of options (Table 5)."""
    return page(name, image, letter, task="T13", options=("篆书", "隶书", "楷书"),
                question="图中是什么字体？")  # fmt: skip


def bare(name: str, answer: str) -> Item:
    return Item(id=name, benchmark="MCS-Bench", task="T1", answer=answer)


ONE = page("a", 1)
TWO_IMAGES = (page("a", 1), page("b", 2))
# Trigram Jaccard .97: two texts about two images, whose answers differ by more than a slip.
ALIKE = (asked("a", 1, LONG_QUESTION + PASSAGE, "鵬"),
         asked("b", 2, LONG_QUESTION + PASSAGE, "鯤"))  # fmt: skip
LONG = (asked("a", 1, LONG_QUESTION, PASSAGE), asked("b", 2, LONG_QUESTION, PASSAGE))
CHOICES = (choice("a", 1, "A"), choice("b", 2, "A"), choice("c", 1, "B"))
# One question has 30 characters of its own, the other 29.
AT_THE_LIMIT = (asked("a", 1, LONG_QUESTION[:31], PASSAGE * 4),
                asked("b", 1, LONG_QUESTION[:30], PASSAGE * 4))  # fmt: skip
AB = [["a", "b"]]
PAIRS = {
    "a slip in a long text": ((ONE, page("b", 1, PASSAGE.replace("鳥", "烏", 1))), {}, AB),
    "the same answer about another picture": (TWO_IMAGES, {}, []),
    "the same answer whatever the picture": (TWO_IMAGES, {"same_image": "never"}, AB),
    "texts that differ in their answers": (ALIKE, {}, []),
    "the same by the paper's rule": (ALIKE, {"jaccard_alone": True}, AB),
    "two pictures by the paper's rule": (TWO_IMAGES, {"jaccard_alone": True}, AB),
    "choices about other images or of other letters by the paper's rule": (
        CHOICES, {"jaccard_alone": True}, [],
    ),
    "choices about one image by the paper's rule": (
        (*CHOICES, choice("d", 1, "A")), {"jaccard_alone": True}, [["a", "d"]],
    ),
    "pictures that fall together": (
        (ONE, page("b", 2, metadata={CLUSTER: shorten_hash(ref(1).sha256)})), {}, AB,
    ),
    "a question of few words about two pictures": (
        (asked("a", 1, "作者是誰？", "莊子"), asked("b", 2, "作者是誰？", "莊子")), {}, [],
    ),
    "a question of many words about two pictures": (LONG, {}, AB),
    "the same with the picture": (LONG, {"same_image": "always"}, []),
    "a long question about three pictures, a template": (
        (*LONG, asked("c", 3, LONG_QUESTION, PASSAGE)), {}, [],
    ),
    "another short answer to a long question, a conflict": (
        (asked("a", 1, PASSAGE, "莊子"), asked("b", 1, PASSAGE, "老子")), {}, [],
    ),
    "two tasks": ((ONE, page("b", 1, task="T8")), {}, []),
    "texts without pictures": ((bare("a", PASSAGE), bare("b", PASSAGE[:-1])), {}, AB),
    "a pair on both sides of the limit of own words": (AT_THE_LIMIT, {"own_words": 30}, AB),
}  # fmt: skip


@pytest.mark.parametrize("kind", PAIRS)
def test_texts_that_are_duplicates_are_grouped(kind):
    items, settings, expected = PAIRS[kind]
    assert groups(*items, **settings) == expected


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
