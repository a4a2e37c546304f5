"""An answer that is too long to be scored counts as the worst value and stays in the mean."""

from __future__ import annotations

import msgspec
import pytest

from keju.benchmarks.mcs_bench import script as official
from keju.items import Item, Response
from keju.runs import RunFolder, RunManifest
from keju.scoring import aggregate, preparations, score_run, semantic
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample


def samples(task, answers, **fields):
    for number, (truth, text) in enumerate(answers):
        item = Item(id=str(number), benchmark="MCS-Bench", task=task, answer=truth, **fields)
        yield ScoringSample(
            item,
            Response(
                key=str(number), item=item.id, model="m", benchmark="MCS-Bench", task=task,
                status="answered", text=text,
            ),
        )  # fmt: skip


def values(found, protocol):
    (result,) = [each for each in aggregate(found) if each.protocol == protocol]
    return {metric.metric: metric for metric in result.tasks[0].metrics}


@pytest.mark.parametrize("protocol", ["official", "strict"])
def test_a_transcription_too_long_to_compare_is_worth_what_an_empty_one_is(protocol, monkeypatch):
    monkeypatch.setattr(preparations, "MAX_CELLS", 1000)
    long = list(samples("T1", [("天地玄黄", "天地玄黄"), ("宇宙洪荒", "宇" * 1000)]))
    empty = list(samples("T1", [("天地玄黄", "天地玄黄"), ("宇宙洪荒", "")]))
    left, right = (values(score_samples(each, (protocol,)), protocol) for each in (long, empty))
    assert {name: each.value for name, each in left.items()} == {
        name: each.value for name, each in right.items()
    }
    assert all(each.scored == 2 for each in left.values())


def test_a_text_too_long_for_jieba_is_worth_nothing_and_keeps_the_reason(monkeypatch):
    monkeypatch.setattr(official, "_LONGEST_CUT", 50)
    found = score_samples(samples("T2", [("天地", "天地"), ("日月", "日" * 60)]), ("official",))
    bleu = [each for each in found if each.metric == "BLEU"]
    assert [each.value for each in bleu][1] == 0
    assert "too long" in bleu[1].reason


@pytest.mark.semantic
def test_five_answers_too_long_to_encode_stay_in_the_mean(monkeypatch):
    monkeypatch.setattr(semantic, "LONGEST", 500)
    from tests.support.degenerate import encoder_families, minilm

    family = encoder_families()[0]
    long = "x" * 501
    made = [
        ScoringSample(item, Response(key=item.id, item=item.id, model="m", benchmark=item.benchmark,
                            task=item.task, query=item.query, status="answered",
                            text=item.answer if number < 2 else long))
        for number, item in enumerate(family.items[:7])
    ]  # fmt: skip
    found = values(score_samples(made, ("strict",), minilm()), "strict")["cosine_floor"]
    assert found.scored == 7
    assert found.value == pytest.approx(2 / 7, abs=0.001)


def test_an_answer_of_a_run_beyond_the_limit_is_not_read_and_worth_nothing(tmp_path):
    run = RunFolder(tmp_path / "run")
    answers = {"T1": ("天地玄黄", "天地玄黄" * 2_000_000), "T7": ("A", "A" + "字" * 8_000_000)}
    items = [
        Item(
            id=task,
            benchmark="MCS-Bench",
            task=task,
            question="？",
            verbatim=True,
            answer=answer,
            options=("甲", "乙"),
        )
        for task, (answer, _) in answers.items()
    ]
    run.write_items(items)
    run.write_manifest(RunManifest(keju="0", dataset="d", dataset_version="1", dataset_hash="h",
                                   models={"m": {}}))  # fmt: skip
    for task, (_, text) in answers.items():
        response = Response(key=task, item=task, model="m", benchmark="MCS-Bench", task=task,
                            status="answered", text=text)  # fmt: skip
        path = run.responses_path("m", task)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(response) + b"\n")
    found = {(each.task, each.protocol, each.metric): each for each in score_run(run)}
    assert found["T7", "official", "Acc"].value == 0
    assert found["T7", "strict", "Acc"].value == 0
    assert found["T7", "strict", "Acc"].reason.startswith("8,000,001 characters")
    assert found["T1", "official", "AR"].value == 0
    strict = [each for each in found.values() if each.task == "T1" and each.protocol == "strict"]
    assert {each.reason for each in strict} == {found["T1", "official", "AR"].reason}
    assert all(each.value is not None for each in strict)
