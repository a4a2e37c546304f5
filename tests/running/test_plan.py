from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import UsageError
from keju.items import Item, Request
from keju.models import Model, ModelOptions, open_model
from keju.running import Selection
from keju.running.requests import item_to_send
from keju.running.selection import NO_TRANSCRIPTION, select
from tests.support.making import make_dataset, page_item, picture
from tests.support.planning import estimate, requests

SECRET = "祕密之答案"


def with_image(path: Path, items: Iterable[Item]) -> Dataset:
    """A dataset of these items, all with the same image."""
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        ref = writer.add_image(picture(1), "page")
        for item in items:
            writer.add(replace(item, images=(ref,)))
    return Dataset.open(path)


def choice(name: str, **fields: object) -> Item:
    return page_item(
        name, task="T5", question="孰為真？\nA. 天 B. 地", answer="A", **fields
    )  # fmt: skip


@pytest.fixture
def mixed(tmp_path: Path) -> Dataset:
    """12 pages of 3 books, 6 questions of 2 books, 2 of them in the reference split."""
    path = tmp_path / "mixed"
    with DatasetWriter(path, name="m", version="1", licence="CC0-1.0", source="tests") as writer:
        for n in range(12):
            ref = writer.add_image(picture(n), f"{n}")
            writer.add(page_item(f"p{n}", images=(ref,), group=f"book{n % 3}", answer=SECRET))
        for n in range(6):
            split = "reference" if n < 2 else "test"
            writer.add(choice(f"q{n}", group=f"volume{n % 2}", split=split))
    return Dataset.open(path)


def names(dataset: Dataset, **options: object) -> list[str]:
    return [item.id for item, _ in requests(dataset, Selection(**options))]


def test_all_of_the_test_split_is_asked_in_order(mixed: Dataset):
    assert names(mixed) == [f"p{n}" for n in range(12)] + ["q2", "q3", "q4", "q5"]


def test_no_request_holds_an_answer(mixed: Dataset):
    for _, request in requests(mixed):
        assert SECRET.encode() not in msgspec.json.encode(request)
    assert "answer" not in Request.__struct_fields__


def test_requests_carry_form_choices_and_images(mixed: Dataset):
    found = {item.id: request for item, request in requests(mixed)}
    assert (found["p0"].form, found["p0"].choices) == ("transcription", ())
    assert len(found["p0"].images) == 1
    assert (found["q2"].form, found["q2"].choices) == ("letter", ("A", "B"))


def test_limit_is_per_task(mixed: Dataset):
    assert names(mixed, limit=2) == ["p0", "p1", "q2", "q3"]


def test_tasks_are_chosen_by_id(mixed: Dataset):
    assert names(mixed, tasks=["T5"]) == ["q2", "q3", "q4", "q5"]


def test_rounds_repeat_each_item(mixed: Dataset):
    found = list(requests(mixed, Selection(tasks=("T5",), limit=1, rounds=3)))
    assert [(item.id, request.round) for item, request in found] == [
        ("q2", 1),
        ("q2", 2),
        ("q2", 3),
    ]


def test_a_sample_takes_tasks_and_groups_in_turn(mixed: Dataset):
    for seed in range(5):
        sample = [item for item, _ in requests(mixed, Selection(sample=6, seed=seed))]
        assert Counter(item.task for item in sample) == {"T1": 3, "T5": 3}
        assert {item.group for item in sample if item.task == "T1"} == {"book0", "book1", "book2"}
        assert {item.group for item in sample if item.task == "T5"} == {"volume0", "volume1"}


def test_a_sample_is_seeded_and_a_smaller_one_is_part_of_a_larger(mixed: Dataset):
    assert names(mixed, sample=5, seed=1) == names(mixed, sample=5, seed=1)
    assert len({tuple(names(mixed, sample=5, seed=seed)) for seed in range(8)}) > 1
    for size in range(1, 17):
        assert set(names(mixed, sample=size)) <= set(names(mixed, sample=size + 1))
    assert names(mixed, sample=1000) == names(mixed)


def test_a_tasks_sample_does_not_depend_on_other_tasks(mixed: Dataset):
    alone = names(mixed, tasks=["T1"], sample=4, seed=2)
    together = [name for name in names(mixed, sample=8, seed=2) if name.startswith("p")]
    assert alone == together


@pytest.mark.parametrize("option", ["limit", "sample", "rounds"])
def test_numbers_below_one_are_wrong_use(mixed: Dataset, option: str):
    with pytest.raises(UsageError, match=f"--{option} must be 1 or more, not 0"):
        names(mixed, **{option: 0})


def test_absurd_numbers_choose_everything_or_are_wrong_use(mixed: Dataset):
    assert names(mixed, limit=10**30, sample=10**30) == names(mixed)
    with pytest.raises(UsageError, match="--rounds must be 1,000 at most"):
        names(mixed, rounds=10**30)


def test_a_task_that_is_unknown_or_not_here_is_wrong_use(mixed: Dataset):
    with pytest.raises(UsageError, match="T99"):
        names(mixed, tasks=["T99"])
    with pytest.raises(UsageError, match=r"no items of task T7\. Tasks here: T1, T5"):
        names(mixed, tasks=["T1", "T7"])


def test_a_dataset_of_reference_items_only_has_nothing_to_ask(tmp_path: Path):
    path = make_dataset(tmp_path / "d", [choice("q", split="reference")])
    with pytest.raises(UsageError, match="no items to ask"):
        names(Dataset.open(path))


def test_prompts_can_be_asked_in_the_other_script(tmp_path: Path):
    path = make_dataset(tmp_path / "d", [choice("q", transcription="後世之書")])
    asked = {
        script: next(
            requests(Dataset.open(path), Selection(scripts=(script,), settings=("gold-text",)))
        )[1]
        for script in ("released", "simplified", "traditional")
    }
    assert "孰為真" in asked["released"].prompt
    assert "孰为真" in asked["simplified"].prompt
    assert asked["traditional"].prompt == asked["released"].prompt
    assert all("後世之書" in request.prompt for request in asked.values())
    before = {script: request.prompt.partition("：")[0] for script, request in asked.items()}
    assert before == {
        "released": "以下是圖中的文字",
        "simplified": "以下是图中的文字",
        "traditional": "以下是圖中的文字",
    }


def test_several_scripts_are_asked_one_after_the_other(tmp_path: Path):
    path = make_dataset(tmp_path / "d", [choice("q")])
    selection = Selection(scripts=("simplified", "traditional"), rounds=2)
    found = [(r.script, r.round) for _, r in requests(Dataset.open(path), selection)]
    assert found == [
        ("simplified", 1), ("simplified", 2), ("traditional", 1), ("traditional", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(("setting", "images"), [("gold-ocr", 1), ("gold-text", 0)])
def test_the_true_text_is_sent_with_the_image_or_alone(tmp_path: Path, setting: str, images: int):
    dataset = with_image(tmp_path / "d", [choice("q", transcription="天地{prompt}玄黃")])
    [(_, request)] = requests(dataset, Selection(settings=(setting,)))
    assert len(request.images) == images
    assert request.source == "天地{prompt}玄黃"
    assert "天地{prompt}玄黃" in request.prompt
    assert request.prompt.endswith("孰為真？\nA. 天 B. 地")


@pytest.mark.parametrize("setting", ["gold-ocr", "gold-text"])
def test_items_without_a_true_text_are_skipped_with_the_reason(tmp_path: Path, setting: str):
    items = [
        choice("with", transcription="天地"),
        choice("without"),
        choice("empty", transcription=" "),
    ]
    dataset = with_image(tmp_path / "d", items)
    assert names(dataset, settings=(setting,)) == ["with"]
    (row,) = estimate(dataset, [model("openai:m")], Selection(settings=(setting,))).rows
    assert (row.calls, row.images) == (1, 1 if setting == "gold-ocr" else 0)
    assert row.declined == {NO_TRANSCRIPTION: 2}


def test_t1s_text_of_the_same_image_is_sent_although_t1_is_not_selected(tmp_path: Path):
    """For T2 to T6 alone; drafts, and T1 items that contradict each other, are no reference."""
    path = tmp_path / "d"
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        refs = [writer.add_image(picture(n), str(n)) for n in range(5)]
        for n, text in enumerate(("天地", "玄黃", "宇宙", "洪荒")):
            writer.add(page_item(f"t1-{n}", images=(refs[n],), answer=text, draft=n == 2))
        writer.add(page_item("t1-3b", images=(refs[3],), answer="日月"))
        for task in ("T2", "T3", "T4", "T5", "T6", "T9"):
            writer.add(page_item(task, task=task, images=(refs[0],), answer="A"))
        writer.add(page_item("own", task="T2", images=(refs[0],), transcription="自有"))
        writer.add(page_item("two", task="T6", images=(refs[0], refs[1])))
        for n in (2, 3, 4):
            writer.add(page_item(f"none-{n}", task="T6", images=(refs[n],)))
    dataset = Dataset.open(path)
    tasks = ("T2", "T3", "T4", "T5", "T6", "T9")
    asked = list(requests(dataset, Selection(settings=("gold-ocr",), tasks=tasks)))
    assert {item.id: request.source for item, request in asked} == {
        **dict.fromkeys(("T2", "T3", "T4", "T5", "T6"), "天地"), "own": "自有", "two": "天地\n玄黃",
    }  # fmt: skip
    selection = Selection(settings=("gold-text",), tasks=tasks)
    keep = partial(item_to_send, transcription=True)
    chosen = select(dataset, selection, dataset.path, keep)
    assert [(item.id, item.answer) for item in chosen if item.transcription == "天地"] == [
        (name, "") for name in ("T2", "T3", "T4", "T5", "T6")
    ]


def test_gold_ocr_never_asks_for_the_transcription_it_shows(tmp_path: Path):
    items = [page_item("p", transcription="天"), choice("q", transcription="地")]
    dataset = with_image(tmp_path / "d", items)
    assert names(dataset, settings=("gold-ocr",)) == ["q"]
    plan = estimate(dataset, [model("baseline:copy")], Selection(settings=("gold-ocr",)))
    reasons = {row.task: row.declined for row in plan.rows}
    assert reasons["T1"] == {"with gold-ocr the prompt would contain the answer": 1}


def model(spec: str) -> Model:
    return open_model(spec, ModelOptions(base_url="http://localhost:1/v1", asking=False))


def test_an_estimate_counts_calls_and_asks_nobody(mixed: Dataset):
    models = [model("openai:m"), model("baseline:chance")]
    plan = estimate(mixed, models, Selection(rounds=2))
    rows = {(row.model, row.task): row for row in plan.rows}
    pages = rows["openai:m", "T1"]
    assert (pages.calls, pages.images) == (24, 24)
    assert rows["baseline:chance", "T1"].calls == 0
    assert rows["baseline:chance", "T1"].declined == {
        "chance answers only letters, yes or no, and probabilities": 24
    }
    assert (rows["baseline:chance", "T5"].calls, rows["baseline:chance", "T5"].input_tokens) == (
        8,
        0,
    )
    assert rows["openai:m", "T5"].declined == {"there is no image to show": 8}
    assert (plan.items, plan.calls) == (16, 24 + 8)
