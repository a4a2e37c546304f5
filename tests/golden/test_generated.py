"""2,000 generated replies: the same official numbers as a run, as its export and as RESPONSES.json.

They are those of the authors' script wherever it has a value (`authors_rules`). Items without a
reference are the exception: for a file, which may be an export, keju does what the script does with
an empty or missing ``Answer_Simplified``, but it leaves the item of a run unscored.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from keju.benchmarks.mcs_bench.responses import export_responses
from keju.benchmarks.mcs_bench.script import official_answer
from keju.datasets.store import DatasetWriter
from keju.definitions import has_reference, prompt_of, query_of, task
from keju.encoders import Encoders, parse_semantic
from keju.items import Score
from keju.models import ModelOptions
from keju.running import Policy, run
from keju.runs import RunFolder
from keju.scoring import score_responses, score_run
from keju.text import read_content
from tests.support import authors_rules
from tests.support.authors_rules import ABSENT
from tests.support.chat_server import asked_for
from tests.support.generated import KINDS, MISSING, Given, generated
from tests.support.making import picture
from tests.support.serving import Chat
from tests.support.stored_scores import read_scores

COUNT = 2_000
NEEDS_ENCODER = {"Avg", "BERTScore"}

Values = dict[tuple[str, str], tuple[float | None, str]]


class Scored(NamedTuple):
    """The replies, and the official scores of the three ways."""

    given: list[Given]
    run: Values
    exported: Values
    file: Values
    folder: RunFolder
    files: tuple[Path, Path]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory, chat: Chat) -> Scored:
    """The replies asked of a server, then exported, and written as a file by the test itself."""
    place, given = tmp_path_factory.mktemp("generated"), generated(COUNT)
    image = picture(0)
    with DatasetWriter(
        place / "dataset", name="g", version="1", licence="CC0-1.0", source="generated"
    ) as writer:
        ref = writer.add_image(image, "0")
        for each in given:
            writer.add(replace(each.item, images=(ref,)))
    chat.plan(
        replies={
            asked_for(prompt_of(each.item), [image]): {
                "text": each.content,
                "reasoning_content": each.reasoning,
            }
            for each in given
            if each.content is not MISSING
        }
    )
    run(
        place / "dataset", ["openai:generated"], place / "run",
        options=ModelOptions(base_url=chat.url), policy=Policy(concurrency=16),
    )  # fmt: skip
    folder = RunFolder.open(place / "run")
    (written,) = export_responses(place / "run", place / "EXPORTED.json")
    (place / "RESPONSES.json").write_text(json.dumps([_row(each) for each in given]), "utf-8")
    return Scored(
        given,
        official(score_run(folder, ("official", "with-reasoning"))),
        official(score_responses(written.file, ("official",))),
        official(score_responses(place / "RESPONSES.json", ("official",))),
        folder,
        (written.file, place / "RESPONSES.json"),
    )


def _row(each: Given) -> dict[str, object]:
    row: dict[str, object] = {
        "ID": each.item.id,
        "Task_ID": int(each.item.task.removeprefix("T")),
        "Answer_Simplified": official_answer(each.item),
    }
    return row if each.content is MISSING else row | {"Response": each.content}


@pytest.mark.semantic
def test_the_encoders_metrics_are_the_same_too(scored: Scored, shared: Path) -> None:
    encoders = Encoders(parse_semantic([f"chinese-bert-wwm={shared / 'golden' / 'tinybert'}"]))
    variants = [
        official(score_run(scored.folder, ("official", "with-reasoning"), encoders)),
        *(official(score_responses(file, ("official",), encoders)) for file in scored.files),
    ]
    encoders.close()
    for metric in ("Avg", "BERTScore"):
        found = [
            {
                key: variant[key]
                for key in variant
                if key[1] == metric and key not in without_reference(scored)
            }
            for variant in variants
        ]
        assert found[0] == found[1] == found[2]
        assert sum(value is not None for value, _ in found[0].values()) > 400


def test_with_reasoning_of_a_field_it_is_the_authors_value_of_both_together(
    scored: Scored,
) -> None:
    (file,) = scored.folder.scores_dir.glob("*.parquet")
    scores = read_scores(file, ["with-reasoning"])
    found = {(each.item, each.metric): each.value for each in scores}
    compared = 0
    for each in scored.given:
        if not each.reasoning or not isinstance(each.content, str) or not has_reference(each.item):
            continue
        item = each.item
        joined = f"<think>{each.reasoning}</think>{each.content}"
        expected = authors_rules.values(
            query_of(item).form, item.task, official_answer(item), joined
        )
        for metric, value in expected.items():
            if not isinstance(value, Exception):
                assert found[item.id, metric] == pytest.approx(value, abs=1e-12)
                compared += found[item.id, metric] != scored.run[item.id, metric][0]
    assert compared > 200


def _has_own_value(content: object) -> bool:
    """Whether keju scores a content at which the script stops: nothing, null, parts of a text."""
    return content is MISSING or (
        not isinstance(content, str) and read_content(content).not_text == ""
    )


def without_reference(scored: Scored) -> set[tuple[str, str]]:
    """The places of items whose reference has no character."""
    lacking = {each.item.id for each in scored.given if not has_reference(each.item)}
    return {place for place in scored.run if place[0] in lacking}


def official(scores: list[Score]) -> Values:
    return {(each.item, each.metric): (each.value, each.reason) for each in scores}


def test_every_reply_is_there_and_stored_as_it_was_returned(scored: Scored) -> None:
    stored = {each.item: each for each in scored.folder.responses()}
    assert len(stored) == len(scored.given) == COUNT
    assert len({each.item.task for each in scored.given}) == 45
    for each in scored.given:
        response = stored[each.item.id]
        if each.content is MISSING:
            assert response.status == "failed"
            continue
        assert response.thinking == each.reasoning
        if isinstance(each.content, str):
            assert (response.text, response.not_text) == (each.content, "")
        elif each.content is None:
            assert (response.text, response.status) == ("", "empty")
    statuses = Counter(each.status for each in stored.values())
    assert (
        min(statuses[status] for status in ("answered", "empty", "failed")) > COUNT / len(KINDS) / 2
    )


def test_a_run_its_export_and_the_file_have_the_same_numbers(scored: Scored) -> None:
    lacking = without_reference(scored)
    assert scored.run.keys() == scored.exported.keys() == scored.file.keys()
    for place in scored.run.keys() - lacking:
        assert scored.run[place] == scored.exported[place] == scored.file[place]
    assert sum(value is not None for value, _ in scored.run.values()) > COUNT


def test_items_without_a_reference_are_unscored_in_a_run(scored: Scored) -> None:
    lacking = without_reference(scored)
    assert {scored.run[place] for place in lacking} == {(None, "no reference")}
    assert sum(scored.file[place][0] is not None for place in lacking) > 20


def test_they_are_the_authors_wherever_the_script_has_a_value(scored: Scored) -> None:
    compared = stopped = 0
    for each in scored.given:
        item = each.item
        response = ABSENT if each.content is MISSING else each.content
        expected = authors_rules.values(
            query_of(item).form, item.task, official_answer(item), response
        )
        assert set(expected) == set(task(item.task).queries[0].official) - NEEDS_ENCODER
        for metric, value in expected.items():
            found, reason = scored.file[item.id, metric]
            if not isinstance(value, Exception):
                assert found == pytest.approx(value, abs=1e-12), (item, metric, each.content)
                compared += 1
                continue
            stopped += 1
            assert (found is None) == bool(reason)
            if not _has_own_value(each.content):
                assert found is None, (item, metric, each.content)
    assert compared > 2_500
    assert stopped > 200
