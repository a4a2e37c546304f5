from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from making import make_dataset, page_item, picture

from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import Item, Request
from keju.models import Model, ModelOptions, open_model
from keju.running import Selection, estimate, requests

SECRET = "祕密之答案"


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
    with pytest.raises(UsageError, match="the test split is empty"):
        names(Dataset.open(path))


def test_prompts_can_be_asked_in_the_other_script(tmp_path: Path):
    path = make_dataset(tmp_path / "d", [choice("q", transcription="後世之書")])
    asked = {
        wording: next(
            requests(Dataset.open(path), Selection(wording=wording, settings=("gold-ocr",)))
        )[1]
        for wording in ("released", "simplified", "traditional")
    }
    assert "孰為真" in asked["released"].prompt
    assert "孰为真" in asked["simplified"].prompt
    assert asked["traditional"].prompt == asked["released"].prompt
    assert all("後世之書" in request.prompt for request in asked.values())


def test_gold_ocr_shows_the_transcription_in_place_of_the_image(tmp_path: Path):
    path = make_dataset(tmp_path / "d", [choice("q", transcription="天地{prompt}玄黃")])
    [(_, request)] = requests(Dataset.open(path), Selection(settings=("gold-ocr",)))
    assert request.images == ()
    assert request.source == "天地{prompt}玄黃"
    assert "天地{prompt}玄黃" in request.prompt
    assert request.prompt.endswith("孰為真？\nA. 天 B. 地")


def test_gold_ocr_names_the_items_without_a_transcription(mixed: Dataset):
    with pytest.raises(DataError, match=r"q2, q3, q4, …: 4 items have no transcription.*--task"):
        names(mixed, settings=("gold-ocr",))


def test_gold_ocr_never_asks_for_the_transcription_it_shows(tmp_path: Path):
    items = [page_item("p", transcription="天"), choice("q", transcription="地")]
    dataset = Dataset.open(make_dataset(tmp_path / "d", items))
    assert names(dataset, settings=("gold-ocr",)) == ["q"]
    plan = estimate(dataset, [model("baseline:copy")], Selection(settings=("gold-ocr",)))
    reasons = {row.task: row.declined for row in plan.rows}
    assert reasons["T1"] == {"with gold-ocr the prompt would hold the answer": 1}


def model(spec: str) -> Model:
    return open_model(spec, ModelOptions(base_url="http://localhost:1/v1", asking=False))


def test_an_estimate_counts_calls_and_bytes_and_asks_nobody(mixed: Dataset):
    models = [model("openai:m"), model("baseline:chance")]
    plan = estimate(mixed, models, Selection(rounds=2))
    rows = {(row.model, row.task): row for row in plan.rows}
    pages = rows["openai:m", "T1"]
    sizes = sum(ref.size for item in mixed.items() for ref in item.images)
    assert (pages.calls, pages.images, pages.image_bytes) == (24, 24, 2 * sizes)
    assert 4 / 3 * pages.image_bytes < pages.wire_bytes < 4 / 3 * pages.image_bytes + 24 * 200
    assert rows["baseline:chance", "T1"].calls == 0
    assert rows["baseline:chance", "T1"].declined == {
        "chance answers letters, yes-no and probabilities, not transcription": 24
    }
    assert (rows["baseline:chance", "T5"].calls, rows["baseline:chance", "T5"].wire_bytes) == (8, 0)
    assert rows["openai:m", "T5"].declined == {"there is no image to show": 8}
    assert (plan.items, plan.calls) == (16, 24 + 8)
