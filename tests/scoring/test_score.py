"""A score for each metric of the catalogue, with its statistics, signature and reason."""

import json

import msgspec
import pytest

from keju.definitions import tasks
from keju.errors import DataError
from keju.items import Item, Line, Response
from keju.runs import RunFolder, RunManifest
from keju.scoring import (
    STORED,
    encode_json,
    join_json,
    metric_of,
    score_answer,
    score_models,
    score_run,
)
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import Defect, ScoringSample
from keju.scoring.stored import read_frames, scores_path
from keju.text import LAYERS
from tests.support.stored_scores import read_scores


def by_metric(scores, protocol):
    return {score.metric: score for score in scores if score.protocol == protocol}


def test_every_metric_of_the_catalogue_gets_a_score_or_a_reason(make):
    for declared in tasks():
        for query in declared.queries:
            item, response = make(declared.id, "A", "A", query=query.name)
            scores = score_answer(item, response)
            assert [s.metric for s in scores] == [*query.official, *query.strict]
            for score in scores:
                assert (score.value is None) == bool(score.reason), score


def test_every_number_has_its_signature_and_its_parts(make):
    for declared in tasks():
        for query in declared.queries:
            item, response = make(declared.id, "天地", "天地", query=query.name)
            for score in score_answer(item, response):
                if score.value is not None:
                    assert score.signature.startswith(f"{score.metric}|{score.protocol}|text:")
                    assert "keju:" in score.signature
                    assert {"numerator", "denominator"} <= set(score.stats)


def test_the_error_rate_carries_edits_and_length_at_each_layer(make):
    item, response = make("T1", "爲學日益，爲道日損。", "为学日益为道日损天")
    score = by_metric(score_answer(item, response), "strict")["CER"]
    edits = [score.stats[f"edits_{layer}"] for layer in LAYERS]
    assert edits == [5, 5, 5, 5, 1]
    assert score.value == 1 / 8


def test_variants_and_script_are_told_apart(make):
    item, response = make("T1", "爲學旣久", "為学既久")
    score = by_metric(score_answer(item, response), "strict")["CER"]
    assert [score.stats[f"edits_{layer}"] for layer in LAYERS] == [3, 3, 3, 1, 0]


@pytest.mark.parametrize(
    "simplified", [{"answer_simplified": "学而时习"}, {}], ids=["given", "derived"]
)
def test_the_official_protocol_reads_the_simplified_answer(make, simplified):
    item, response = make("T1", "學而時習", "學而時習", **simplified)
    assert by_metric(score_answer(item, response), "official")["CR"].value == 1


def parts(make, truth, text, **others):
    """CER, recognition error and layout error of one answer to a page."""
    scores = by_metric(score_answer(*make("T1", truth, text, **others)), "strict")
    return [scores[name].value for name in ("CER", "CER_recognition", "CER_layout")]


@pytest.mark.parametrize(
    ("truth", "text", "expected"),
    [
        ("天地玄黄\n宇宙洪荒", "宇宙洪荒天地玄黄", [1, 0, 1]),
        ("為學日益", "益日学为", [1, 0, 1]),
        ("天地玄黄", "", [1, 1, 0]),
    ],
    ids=["columns out of order", "variants out of order", "no answer"],
)
def test_layout_error_and_recognition_error_are_told_apart(make, truth, text, expected):
    assert parts(make, truth, text) == expected


def test_line_breaks_on_either_side_change_no_part(make):
    lines = (Line(id="1", text="天地玄黄"), Line(id="2", text="宇宙洪荒日月盈昃"))
    whole = "天地玄黄宇宙洪荒日月盈昃"
    for truth in (whole, "天地玄黄\n宇宙洪荒\n日月盈昃", "\n".join(whole)):
        for text in ("洪荒日月盈戾\n天地玄黄宇宙", "洪荒日月盈戾天地玄黄宇宙"):
            for known in ((), lines):
                found = parts(make, truth, text, lines=known)
                assert found[1:] == [1 / 12, found[0] - 1 / 12]


@pytest.mark.parametrize("status", ["failed", "filtered"])
def test_a_failure_has_the_worst_value_whatever_text_came_with_it(make, status):
    for declared in tasks():
        for query in declared.queries:
            item, response = make(
                declared.id, "天地", "天地 error 500", status=status, query=query.name
            )
            for score in score_answer(item, response):
                if score.value is not None:
                    form = query.form
                    bound = metric_of(score.protocol, declared.benchmark, form, score.metric)
                    assert score.value == bound.worst
                    assert score.status == score.verdict == status


def test_a_failure_is_never_right_even_where_an_empty_answer_is(make):
    in_file = Defect(in_file=True)
    item, response = make("T4", "", "", status="failed", answer_simplified="")
    assert (
        by_metric(score_samples([ScoringSample(item, response, in_file)]), "official")["F1"].value
        == 0
    )
    item, response = make("T4", "", "", status="empty", answer_simplified="")
    assert (
        by_metric(score_samples([ScoringSample(item, response, in_file)]), "official")["F1"].value
        == 1
    )


def test_the_extracted_answer_and_its_origin_are_kept(make):
    item, response = make("T5", "B", "综上，答案是B。", options=("离开", "道路"))
    score = by_metric(score_answer(item, response), "strict")["Acc"]
    assert (score.value, score.extracted) == (1, "B")
    assert score.extracted_from == "announced: “B”"


def test_an_unknown_number_of_options_leaves_the_chance_correction_unscored(make):
    item, response = make("T5", "B", "B")
    score = by_metric(score_answer(item, response), "strict")["Acc_chance_corrected"]
    assert score.value is None


def test_wrong_answers_and_silence_are_corrected_for_chance(make):
    values = []
    for text in ("B", "A", "无法回答"):
        item, response = make("T5", "B", text, options=("甲", "乙", "丙"))
        strict = by_metric(score_answer(item, response), "strict")
        values.append(strict["Acc_chance_corrected"].value)
    assert values == [1, -0.5, 0]


def test_a_text_too_long_to_compare_is_unscored(make, monkeypatch):
    monkeypatch.setattr("keju.scoring.preparations.MAX_CELLS", 10)
    item, response = make("T1", "天地玄黄", "天地玄黄")
    assert all(score.value is None for score in score_answer(item, response))


def test_a_runaway_translation_has_the_worst_value_without_being_cut_into_words(make):
    item, response = make("T2", "选", "选" * 999_999)
    score = by_metric(score_answer(item, response, ("official",)), "official")["BLEU"]
    assert score.value == 0


def test_an_item_of_no_task_is_an_error():
    item = Item(id="x", benchmark="MCS-Bench", task="T99")
    response = Response(
        key="k", item="x", model="m", benchmark="MCS-Bench", task="T99", status="answered"
    )
    with pytest.raises(DataError, match="T99"):
        score_answer(item, response)


def test_an_accepted_alternative_is_right(make):
    item, response = make("T21", "红色", "朱红", also_accepted=("朱红",))
    assert by_metric(score_answer(item, response), "strict")["ExactMatch"].value == 1


@pytest.fixture
def run(tmp_path, make):
    folder = RunFolder(tmp_path / "run")
    folder.write_manifest(RunManifest(keju="0", dataset="d", dataset_version="1", dataset_hash="h"))
    pairs = [
        make("T1", "天地玄黄", "天地", model="a", group="book"),
        make("T5", "B", "B", model="a", options=("甲", "乙")),
        make("T5", "B", "", model="b", status="failed", options=("甲", "乙")),
    ]
    items = {(item.task, item.id): item for item, _ in pairs}
    folder.write_items(list(items.values()))
    for _, response in pairs:
        path = folder.responses_path(response.model, response.task)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as stream:
            stream.write(msgspec.json.encode(response) + b"\n")
    return folder


def test_a_run_is_scored_model_by_model_and_written_down(run):
    scores = score_run(run)
    assert {score.model for score in scores} == {"a", "b"}
    assert {score.group for score in scores if score.task == "T1"} == {"book"}
    for model in ("a", "b"):
        stored = read_scores(run.scores_dir / f"{model}.parquet")
        assert stored == [score for score in scores if score.model == model]


def test_scoring_again_gives_the_same(run):
    assert score_run(run, ("strict",)) == score_run(run, ("strict",))


def test_a_response_to_an_unknown_item_costs_no_other_and_is_counted(run):
    run.write_items(run.items()[:1])
    (a, b) = score_models(run)
    assert {each.task for result in a.results for each in result.tasks} == {"T1"}
    assert a.strays == {str(run.responses_path("a", "T5")): 1}
    assert list(b.strays.values()) == [1]


def test_a_folder_that_bears_another_models_name_is_an_error(run):
    run.responses_path("b", "T5").parent.rename(run.path / "responses" / "c")
    with pytest.raises(DataError, match="Name the folder b"):
        score_run(run)


def test_models_shared_out_over_processes_get_the_same_scores(tmp_path, make):
    folder = RunFolder(tmp_path / "run")
    folder.write_manifest(RunManifest(keju="0", dataset="d", dataset_version="1", dataset_hash="h"))
    pairs = [
        make(task, answer, text, model=model)
        for model in ("a", "b/c", "d", "e:f")
        for task, answer, text in (("T1", "天地玄黄", "天地"), ("T4", "孔子、颜回", "孔子"))
    ]
    folder.write_items([item for item, _ in pairs[:2]])
    for _, response in pairs:
        path = folder.responses_path(response.model, response.task)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(response) + b"\n")
    alone = score_run(folder)
    kept = {path.name: read_scores(path) for path in folder.scores_dir.iterdir()}
    for path in folder.scores_dir.iterdir():
        path.unlink()
    assert score_run(folder, workers=2) == alone
    assert {path.name: read_scores(path) for path in folder.scores_dir.iterdir()} == kept
    folder.write_items([pairs[0][0]])
    models = score_models(folder, (*STORED, "printed"), workers=2)
    summaries = list(models)
    assert [sum(summary.strays.values()) for summary in summaries] == [1, 1, 1, 1]
    whole = json.loads(
        b"".join(
            join_json(
                encode_json(read_frames(scores_path(folder, summary.model)), summary.results)
                for summary in summaries
            )
        )
    )
    assert list(whole) == ["a", "b/c", "d", "e:f"]
    expected = {score.metric: score.value for score in alone[:13] if score.protocol == "official"}
    assert whole["d"]["official"]["tasks"]["1"] == {name: expected[name] for name in expected}
    assert whole["d"]["variants"]["tasks"] == {"1": {"BLEU_eq5": 0.0}}
