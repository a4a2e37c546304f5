"""Selected items: the same from a list and from a dataset, in memory and on disk."""

from __future__ import annotations

import gc
from pathlib import Path

import msgspec
import pytest

from keju.datasets.store import Dataset
from keju.items import Item, Request
from keju.models import Answer, Model
from keju.running import Policy, access_of, run
from keju.running.requests import request_for
from keju.running.selection import Selection, in_shard, select
from keju.runs import RunFolder, record_list
from tests.support.making import make_dataset, page_item
from tests.support.planning import estimate

FEW = 5
QUESTIONS = 60


def question(number: int) -> Item:
    task = ("T2", "T3")[number % 2]
    return page_item(
        f"q{number:03}", task=task, question=f"[item q{number:03}] 何書？", answer="莊子",
        group=f"book {number % 7}" if number % 3 else "",
        split="reference" if number % 10 == 9 else "test",
    )  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("items") / "d"
    return make_dataset(folder, map(question, range(QUESTIONS)), pages=12)


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_list, "MOST_IN_MEMORY", FEW)


def whole(item: Item) -> Item:
    return item


SELECTIONS = [
    Selection(),
    Selection(sample=17, seed=3),
    Selection(limit=4),
    Selection(limit=9, sample=11),
    Selection(tasks=("T3",), sample=5, seed=1),
    Selection(items=("q002", "q041", "i0003")),
    Selection(settings=("gold-text",), tasks=("T1", "T2")),
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=lambda each: str(each.manifest_settings))
def test_items_on_disk_are_those_of_a_list(
    path: Path, selection: Selection, monkeypatch: pytest.MonkeyPatch
):
    dataset, reference = Dataset.open(path), list[Item]()
    expected = list(select(dataset.items(), selection, path))
    monkeypatch.setattr(record_list, "MOST_IN_MEMORY", FEW)
    assert list(select(dataset, selection, path, whole, reference)) == expected
    assert {item.split for item in reference} == {"reference"}
    assert len(reference) == QUESTIONS // 10


def test_images_take_turns_in_shards_in_the_order_of_their_first_items(path: Path):
    items = [*Dataset.open(path), *Dataset.open(path)]
    turns: dict[object, int] = {}
    first = [turns.setdefault(item.images or item.id, len(turns)) for item in items]
    for count in (1, 2, 5):
        for number in range(count):
            own = [item for item, turn in zip(items, first, strict=True) if turn % count == number]
            assert list(in_shard(items, f"{number + 1}/{count}")) == own
    assert list(in_shard([], "2/3")) == []


@pytest.mark.usefixtures("on_disk")
def test_the_images_for_baselines_are_those_of_the_test_split(path: Path):
    dataset = Dataset.open(path)
    access = access_of(dataset)
    assert [item.id for item in access.tested_items()] == [f"i{n:04}" for n in range(12)]


def stored(out: Path) -> list[dict[str, object]]:
    responses = [msgspec.to_builtins(each) for each in RunFolder.open(out).responses()]
    return [each | {"seconds": 0} for each in responses]


CALLS = [
    Selection(sample=30, seed=2, rounds=2),
    Selection(shard="2/3"),
    Selection(settings=("image", "gold-ocr"), tasks=("T1", "T2"), scripts=("simplified",)),
]


@pytest.mark.parametrize("selection", CALLS, ids=lambda each: str(each.manifest_settings))
def test_a_run_and_a_plan_are_the_same_with_items_on_disk(
    path: Path, selection: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = {}
    for name, most in (("memory", 10_000), ("disk", FEW)):
        monkeypatch.setattr(record_list, "MOST_IN_MEMORY", most)
        policy = Policy(concurrency=1)
        run(path, ["baseline:copy"], tmp_path / name, selection=selection, policy=policy)
        plan = estimate(Dataset.open(path), [Counting()], selection)
        items = (tmp_path / name / "items.parquet").read_bytes()
        made[name] = stored(tmp_path / name), items, plan
    assert made["disk"] == made["memory"]
    assert made["disk"][0]


class Counting(Model):
    """A model that counts the items which are in memory when it answers."""

    name = "counting"
    concurrency = 1

    def __init__(self) -> None:
        self.answered = self.most = 0
        self.identity = {"kind": "counting"}

    def unsupported_reason(self, request: Request) -> str:
        return ""

    async def answer(self, request: Request, images: object) -> Answer:
        if self.answered % 10 == 0:  # a count takes long, and a list would be there all the time
            alive = sum(isinstance(each, Item) for each in gc.get_objects())
            self.most = max(self.most, alive)
        self.answered += 1
        return Answer(text="天")

    async def close(self) -> None:
        pass


@pytest.mark.usefixtures("on_disk")
def test_while_requests_are_sent_no_list_of_items_is_in_memory(path: Path, tmp_path: Path):
    model = Counting()
    before = sum(isinstance(each, Item) for each in gc.get_objects())
    summary = run(path, [model], tmp_path / "run")
    assert summary.models[0].statuses["answered"] > QUESTIONS // 2
    assert model.most - before < QUESTIONS // 4


@pytest.mark.usefixtures("on_disk")
def test_an_interrupted_run_resumes_where_it_stopped(path: Path, tmp_path: Path):
    out = tmp_path / "run"
    run(path, ["baseline:copy"], out, policy=Policy(concurrency=1))
    whole_run = stored(out)
    file = RunFolder.open(out).response_files()[0]
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert run(path, ["baseline:copy"], out).models[0].asked == len(lines) - len(lines) // 2
    assert stored(out) == whole_run


def test_a_setting_of_the_command_line_is_encoded_as_the_default():
    """`baseline:chance` draws by the encoded request; msgspec compares defaults by identity."""
    settings, released = ("".join("image"),), ("".join("released"),)
    typed = Selection(settings=settings, scripts=released, wordings=released)
    assert [
        msgspec.json.encode(request_for(question(1), variant)) for variant in typed.variants
    ] == [msgspec.json.encode(request_for(question(1)))]
