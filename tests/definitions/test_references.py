"""Items without a reference: which they are, and that nothing scores or averages them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keju.datasets.checks import check_item, unscored_reason
from keju.definitions import NO_REFERENCE, Query, Task, has_reference, missing_reference
from keju.definitions.references import NO_BOXES
from keju.items import Item
from keju.scoring import aggregate
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import Defect, ScoringSample
from tests.support.unreferenced import BOX, QUERIES, REF, asked, said, without


@pytest.mark.parametrize(("kind", "query"), QUERIES, ids=lambda each: getattr(each, "id", None))
@pytest.mark.parametrize("text", ["", "Yes", "0.9"])
def test_no_metric_of_either_protocol_scores_an_item_without_a_reference(
    kind: Task, query: Query, text: str
) -> None:
    known, bare = asked(kind, query, "known"), without(asked(kind, query, "bare"))
    assert has_reference(known)
    assert missing_reference(bare) == NO_REFERENCE
    samples = [ScoringSample(item, each) for item in (known, bare) for each in said(item, text)]
    scores = score_samples(samples)
    of_bare = [score for score in scores if score.item == "bare"]
    assert {(score.protocol, score.metric) for score in of_bare} == {
        *(("official", name) for name in query.official),
        *(("strict", name) for name in query.strict),
    }
    assert {(score.value, score.reason) for score in of_bare} <= {(None, NO_REFERENCE)}
    alone = aggregate(score for score in scores if score.item == "known")
    for both, one in zip(aggregate(scores), alone, strict=True):
        for metric, known_metric in zip(both.tasks[0].metrics, one.tasks[0].metrics, strict=True):
            assert (metric.value, metric.item_mean) == (known_metric.value, known_metric.item_mean)
            assert metric.items == known_metric.items + 1
            assert metric.scored == known_metric.scored
            assert metric.unscored[NO_REFERENCE] == 1


@pytest.mark.parametrize(("kind", "query"), QUERIES, ids=lambda each: getattr(each, "id", None))
def test_a_missing_reference_is_no_flaw_but_is_counted_where_a_metric_waits_for_it(
    kind: Task, query: Query
) -> None:
    bare = without(asked(kind, query))
    assert not any(finding.severity == "error" for finding in check_item(bare))
    measured = bool(query.official or query.strict)
    assert unscored_reason(bare) == (NO_REFERENCE if measured else "")
    assert unscored_reason(replace(bare, draft=True)) == ""
    assert unscored_reason(asked(kind, query)) == ""


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({"query": "Where", "boxes": (BOX,)}, True),
        ({"query": "Where", "answer": NO_BOXES}, True),
        ({"query": "Where", "answer": "3"}, False),
        ({"query": "How", "boxes": (BOX,)}, True),
        ({"query": "How", "answer": "0"}, True),
        ({"query": "Yes-or-No", "answer": "No"}, True),
        ({"query": "Yes-or-No", "boxes": (BOX,)}, False),
        ({"query": "What", "answer": " \n"}, False),
    ],
)
def test_an_empty_list_is_a_reference_and_an_empty_text_is_none(
    fields: dict[str, object], known: bool
) -> None:
    item = Item(id="a", benchmark="OBI-Bench", task="recognition", images=(REF,), **fields)
    assert has_reference(item) == known
    labelled = replace(item, task="classification", query="", split="reference")
    assert has_reference(labelled) == bool(item.answer.strip())


def test_a_negative_is_scored_and_its_empty_list_of_boxes_is_told_from_no_reference() -> None:
    no, zero, boxes = (
        Item(
            id=query, benchmark="OBI-Bench", task="recognition", query=query, images=(REF,),
            answer=answer, question="?", verbatim=True,
        )
        for query, answer in (("Yes-or-No", "No"), ("How", "0"), ("Where", NO_BOXES))
    )  # fmt: skip
    assert [list(check_item(item)) for item in (no, zero, boxes)] == [[], [], []]
    scores = score_samples(
        ScoringSample(item, said(item, text)[0])
        for item, text in ((no, "No"), (zero, "0"), (boxes, "[[1, 1, 9, 9]]"))
    )
    found = {(score.item, score.protocol, score.metric): score for score in scores}
    assert found["Yes-or-No", "strict", "BalancedAcc"].value == 1
    assert found["How", "strict", "CountAcc"].value == 1
    assert found["Where", "strict", "mIoU"].reason == "the item has no true boxes"


def test_a_simplified_answer_alone_is_a_reference() -> None:
    item = Item(id="a", benchmark="MCS-Bench", task="T6", answer_simplified="学习")
    assert has_reference(item)


@pytest.mark.parametrize("protocol", ["official", "strict"])
def test_in_a_file_official_reads_an_empty_answer_as_the_authors_script_does(protocol) -> None:
    item = Item(id="a", benchmark="MCS-Bench", task="T21", question="?", verbatim=True)
    (score,) = score_samples(
        [ScoringSample(item, said(item, "三")[0], Defect(in_file=True))], (protocol,)
    )
    expected = (1.0, "") if protocol == "official" else (None, NO_REFERENCE)
    assert (score.value, score.reason) == expected
