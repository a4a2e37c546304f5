"""What a plan says of tokens, money and hours, and of what is there already."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import Box, Item, Response
from keju.models import Fit, Model, ModelOptions, open_model
from keju.running import Plan, ResponseStore, Selection
from keju.running.plan import NO_RULE, READING, SMALLER, UNREAD
from keju.running.prices import read_prices
from keju.running.requests import key_of
from keju.running.tokens import image_rule, text_tokens
from keju.runs import RunFolder, RunManifest
from tests.support.making import picture
from tests.support.planning import estimate, requests

PAGES = 6


def model(spec: str) -> Model:
    return open_model(spec, ModelOptions(base_url="http://localhost:1/v1", asking=False))


@pytest.fixture
def pages(tmp_path: Path) -> Dataset:
    """Six pages with a question each; the transcription of the last is not known."""
    path = tmp_path / "pages"
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        for n in range(PAGES):
            ref = writer.add_image(picture(n), f"{n}")
            text = "天地玄黃宇宙洪荒" if n < PAGES - 1 else None
            writer.add(
                Item(
                    id=f"q{n}",
                    benchmark="MCS-Bench",
                    task="T7",
                    options=("天論", "地論"),
                    answer="A",
                    images=(ref,),
                    transcription=text,
                )
            )
    return Dataset.open(path)


def total(plan: Plan, name: str):
    return next(each for each in plan.totals if each.model == name)


def test_tokens_are_those_of_every_request(pages: Dataset):
    plan = estimate(pages, [model("openai:gpt-4o")], Selection(rounds=3))
    (row,) = plan.rows
    asked = [request for _, request in requests(pages, Selection(rounds=3))]
    (width, height) = (asked[0].images[0].width, asked[0].images[0].height)
    assert max(width, height) <= 512  # one tile
    assert row.image_tokens == 3 * PAGES * (85 + 170)
    assert row.text_tokens == sum(text_tokens(request.prompt) for request in asked)
    assert row.input_tokens == row.text_tokens + row.image_tokens
    assert row.output_tokens == 3 * PAGES  # a letter
    assert not row.unknown


def test_pictures_that_will_be_made_smaller_take_fewer_tokens(pages: Dataset):
    (item, *_) = pages.items()
    width, height = item.images[0].width, item.images[0].height
    options = ModelOptions(
        base_url="http://localhost:1/v1", asking=False, fit=Fit(max_pixels=width * height // 4)
    )
    rule = image_rule("claude-sonnet-4")
    (row,) = estimate(pages, [open_model("openai:claude-sonnet-4", options)], Selection()).rows
    assert row.image_tokens == PAGES * rule.tokens(width // 2, height // 2)
    assert row.unknown == {SMALLER: PAGES}


def test_a_model_without_a_rule_has_no_count_and_no_price(pages: Dataset):
    plan = estimate(
        pages, [model("openai:my-own")], Selection(), prices=read_prices(Path("example"))
    )
    found = total(plan, "openai:my-own")
    assert (found.input_tokens, found.image_tokens, found.money) == (None, None, None)
    assert plan.rows[0].unknown == {NO_RULE: PAGES}
    assert found.counted_by == ""


def test_what_stays_here_costs_nothing(pages: Dataset):
    plan = estimate(
        pages, [model("baseline:chance")], Selection(), prices=read_prices(Path("example"))
    )
    found = total(plan, "baseline:chance")
    assert (found.calls, found.input_tokens, found.money, found.hours) == (PAGES, 0, 0.0, None)


def test_money_follows_the_price_file(pages: Dataset, tmp_path: Path):
    path = tmp_path / "prices.toml"
    path.write_text(
        'currency = "CNY"\nseen = "today"\n'
        '[[models]]\nnames = ["GPT-4o*"]\ninput = 20.0\noutput = 80.0\n',
        "utf-8",
    )
    plan = estimate(
        pages,
        [model("openai:gpt-4o"), model("openai:o3")],
        Selection(),
        prices=read_prices(path),
        per_minute=0.5,
    )
    found = total(plan, "openai:gpt-4o")
    expected = (20 * found.input_tokens + 80 * found.output_tokens) / 1e6
    assert found.money == pytest.approx(expected)
    assert (plan.currency, plan.prices_seen) == ("CNY", "today")
    assert found.hours == pytest.approx(PAGES / 0.5 / 60)
    assert total(plan, "openai:o3").money is None


def test_the_two_phases_are_shown_as_such(pages: Dataset):
    plan = estimate(pages, [model("openai:gpt-4o")], Selection(settings=("own-text",), rounds=2))
    reading, asking = plan.rows
    assert (reading.task, reading.calls, reading.images) == (READING, 2 * PAGES, 2 * PAGES)
    assert (asking.task, asking.calls, asking.images) == ("T7", 2 * PAGES, 0)
    assert asking.image_tokens == 0
    assert asking.text_tokens > 2 * (PAGES - 1) * 8  # the texts that were read
    assert reading.unknown == asking.unknown == {UNREAD: 2}
    assert total(plan, "openai:gpt-4o").calls == 4 * PAGES


def test_images_are_sent_again_with_the_reading(pages: Dataset):
    plan = estimate(pages, [model("openai:gpt-4o")], Selection(settings=("own-ocr", "own-text")))
    reading, asking = plan.rows
    assert (reading.calls, reading.images) == (PAGES, PAGES)
    assert (asking.calls, asking.images) == (2 * PAGES, PAGES)
    assert asking.image_tokens == reading.image_tokens > 0


def test_an_engine_reads_once_for_all_pipelines_and_rounds(pages: Dataset):
    models = [model("ocr+llm:ppocr+openai:gpt-4o"), model("ocr+llm:ppocr+openai:o3")]
    plan = estimate(pages, models, Selection(rounds=3))
    reading, *asking = plan.rows
    assert (reading.model, reading.task, reading.calls) == ("ppocr", READING, PAGES)
    assert reading.input_tokens == 0
    assert [row.calls for row in asking] == [3 * PAGES, 3 * PAGES]
    assert all(row.images == 0 and row.input_tokens > 0 for row in asking)


def test_a_blind_model_is_sent_no_image(pages: Dataset):
    (row,) = estimate(pages, [model("blind:openai:gpt-4o")], Selection()).rows
    assert (row.calls, row.images, row.image_tokens) == (PAGES, 0, 0)
    assert row.text_tokens > 0


def test_what_a_run_holds_is_not_counted(pages: Dataset, tmp_path: Path):
    folder = RunFolder(tmp_path / "run")
    asked = [request for _, request in requests(pages, Selection(rounds=2))]
    with ResponseStore(folder) as store:
        for request in asked[:5]:
            store.append(
                Response(
                    key=key_of(request, model("openai:gpt-4o")),
                    item=request.item,
                    model="openai:gpt-4o",
                    benchmark=request.benchmark,
                    task=request.task,
                    status="answered",
                    round=request.round,
                    text="A",
                )
            )
    folder.write_manifest(RunManifest(keju="0", dataset="d", dataset_version="1", dataset_hash="h"))
    fresh = estimate(pages, [model("openai:gpt-4o")], Selection(rounds=2)).rows[0]
    (row,) = estimate(pages, [model("openai:gpt-4o")], Selection(rounds=2), folder=folder).rows
    assert (row.calls, row.stored) == (2 * PAGES - 5, 5)
    assert (fresh.calls, fresh.stored) == (2 * PAGES, 0)
    assert row.input_tokens < fresh.input_tokens


def test_boxes_are_answered_at_length(tmp_path: Path):
    boxes = tuple(Box(x0=n, y0=0, x1=n + 9, y1=9) for n in range(20))
    path = tmp_path / "d"
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        ref = writer.add_image(picture(1), "1")
        asked = {"benchmark": "OBI-Bench", "task": "recognition", "query": "Where"}
        writer.add(Item(id="o", images=(ref,), boxes=boxes, **asked))
    (row,) = estimate(Dataset.open(path), [model("openai:gpt-4o")], Selection()).rows
    assert row.output_tokens == 20 * text_tokens("[0000, 0000, 0000, 0000],")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("currency = 1", "not a price file"),
        ("nonsense", "not a price file"),
        ('currency = "USD"\n[[models]]\nnames = ["x"]\ninput = -1.0\noutput = 1.0', "0 or more"),
        ('currency = "USD"\n[[models]]\nnames = ["x"]\ninput = nan\noutput = 1.0', "0 or more"),
        ('currency = "USD"\n[[models]]\nname = ["x"]\ninput = 1\noutput = 1', "not a price file"),
    ],
)
def test_a_price_file_that_is_none_is_named(tmp_path: Path, text: str, said: str):
    path = tmp_path / "prices.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=said) as caught:
        read_prices(path)
    assert "prices.toml" in str(caught.value)
    with pytest.raises(UsageError, match="--prices example"):
        read_prices(tmp_path / "absent.toml")


def test_the_example_says_when_its_prices_were_seen():
    shipped = read_prices(Path("example"))
    assert shipped.currency == "USD"
    assert shipped.seen
    assert shipped.price("openai/GPT-4o-mini-2024-07-18").input < shipped.price("gpt-4o").input
