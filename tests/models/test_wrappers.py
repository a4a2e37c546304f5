"""A model asked blind, and one shown the images of others."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import UsageError
from keju.items import ImageRef, Item, Request
from keju.models import DatasetAccess, ModelOptions, open_model, role_of
from keju.models.wrappers import other_images
from keju.running import access_of, request_key, run
from keju.running.requests import request_for
from keju.runs import RunFolder
from tests.support.making import page_item, picture
from tests.support.serving import Chat
from tests.support.showing import stored

SERVED = "openai:served"


def options(chat: Chat | None = None, **more: object) -> ModelOptions:
    return ModelOptions(base_url=chat.url if chat else "http://localhost:1/v1", **more)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Six pages of three books, and a gallery of two queries over two candidates."""
    with DatasetWriter(
        tmp_path / "data", name="d", version="1", licence="CC0-1.0", source="made here"
    ) as writer:
        for number in range(6):
            ref = writer.add_image(picture(number), str(number))
            writer.add(page_item(f"p{number}", images=(ref,), group=f"book {number // 2}"))
        refs = [writer.add_image(picture(number), str(number)) for number in range(10, 14)]
        for number in range(2):
            images = (refs[number], *refs[2:])
            writer.add(
                Item(id=f"q{number}", benchmark="OBI-Bench", task="retrieval", query="How",
                     images=images, relevant=(1,))
            )  # fmt: skip
    return tmp_path / "data"


def shas(chat: Chat) -> list[list[str]]:
    return [[each.split()[1] for each in row] for row in chat.stats()["images"]]


def test_a_blind_model_is_sent_the_prompt_alone(dataset: Path, tmp_path: Path, chat: Chat):
    chat.plan(images=True)
    name = f"blind:{SERVED}"
    run(dataset, [name, SERVED], tmp_path / "run", options=options(chat))
    sent = [len(row) for row in shas(chat)]
    assert sorted(sent) == [0] * 10 + [1] * 6 + [2] * 4
    responses = list(RunFolder.open(tmp_path / "run").responses())
    assert {each.model for each in responses} == {name, SERVED}
    assert {each.text for each in responses if each.item == "p3"} == {"answer to p3"}


def test_a_shuffled_model_is_sent_the_images_of_another_group(
    dataset: Path, tmp_path: Path, chat: Chat
):
    chat.plan(images=True)
    run(dataset, [f"shuffled:{SERVED}"], tmp_path / "run", options=options(chat))
    items = {item.id: item for item in Dataset.open(dataset).items()}
    group_of = {item.images[0].sha256: item.group for item in items.values() if item.group}
    bodies = chat.stats()["bodies"]
    asked = dict(zip((body.split("[item ")[-1][:2] for body in bodies), shas(chat), strict=True))
    for number in range(6):
        (sha,) = asked[f"p{number}"]
        assert group_of[sha] != f"book {number // 2}"
    assert len({asked[f"p{number}"][0] for number in range(6)}) == 6
    pairs = sorted(row for row in shas(chat) if len(row) == 2)
    queries = [items[name].images[0].sha256 for name in ("q0", "q1")]
    candidates = [ref.sha256 for ref in items["q0"].images[1:]]
    # Each query is asked with the other's picture; the candidates stay.
    assert pairs == sorted([one, other] for one in queries for other in candidates)


def test_they_are_other_models_with_other_keys(dataset: Path):
    opened = Dataset.open(dataset)
    items = opened.items()
    access = access_of(opened)
    models = [
        open_model(SERVED, options(), access),
        open_model(f"blind:{SERVED}", options(), access),
        open_model(f"shuffled:{SERVED}", options(), access),
        open_model(f"shuffled:{SERVED}", options(seed=1), access),
    ]
    request = request_for(items[0])
    assert len({request_key(request, model.identity) for model in models}) == 4
    assert models[2].name == f"shuffled:{SERVED}"
    assert models[2].identity == open_model(f"shuffled:{SERVED}", options(), access).identity


def test_they_are_baselines_in_reports():
    assert role_of(f"blind:{SERVED}") == role_of(f"shuffled:{SERVED}") == "baseline"
    assert role_of("ocr+llm:ppocr+baseline:copy") == "baseline"
    assert role_of(f"ocr+llm:ppocr+{SERVED}") == role_of(SERVED) == "model"
    assert role_of("gone:x") is None


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("blind:", "needs a model after it"),
        ("blind:ppocr", "asks a model, not engine"),
        ("blind:baseline:chance", "not baseline"),
        ("shuffled:replay:x.jsonl", "not answers"),
        ("shuffled:blind:openai:m", "not baseline"),
        ("blind:opnai:m", "Did you mean 'openai'"),
    ],
)
def test_what_they_cannot_ask_is_wrong_use(spec: str, why: str):
    with pytest.raises(UsageError, match=why):
        open_model(spec, options())


def test_they_decline_what_shows_no_image_and_a_task_of_one_group():
    page = stored(np.zeros((4, 4), np.uint8)).ref
    item = page_item("p", images=(page,), group="the only book")
    two = DatasetAccess(tested_items=lambda: (shown("p", "a"), shown("x", "b")))
    for kind in ("blind", "shuffled"):
        model = open_model(f"{kind}:{SERVED}", options(), two)
        bare = Request(item="p", benchmark="MCS-Bench", task="T2", form="text", prompt="?")
        assert "--setting image" in model.unsupported_reason(bare)
    one = DatasetAccess(tested_items=lambda: (shown("p", "a"),))
    alone = open_model(f"shuffled:{SERVED}", options(), one)
    assert "another group" in alone.unsupported_reason(request_for(item))


def test_without_a_dataset_nothing_is_shuffled():
    two = DatasetAccess(tested_items=lambda: (shown("p", "a"), shown("x", "b")))
    model = open_model(f"shuffled:{SERVED}", options(), two)
    page = stored(np.zeros((4, 4), np.uint8))
    request = request_for(page_item("p", images=(page.ref,)))
    with pytest.raises(Exception, match="without a dataset"):
        asyncio.run(model.answer(request, (page.data,)))


def shown(item: str, group: str, sha: str = "") -> Item:
    name = hashlib.sha256((sha or item).encode()).hexdigest()
    ref = ImageRef(path=f"{name}.png", sha256=name, width=1, height=1, size=1)
    return Item(id=item, benchmark="MCS-Bench", task="T1", group=group, images=(ref,))


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwxyz")), max_size=12),
    st.integers(0, 3),
)
def test_nobody_is_shown_his_own_picture_or_his_own_group(
    places: Sequence[tuple[str, str]], seed: int
):
    items = [shown(f"i{at}", group, sha) for at, (group, sha) in enumerate(places)]
    found = other_images(items, seed)
    for each in items:
        others = {
            other.images for other in items
            if other.group != each.group and other.images != each.images
        }  # fmt: skip
        assert found.get(each.id) in (others or {None})
