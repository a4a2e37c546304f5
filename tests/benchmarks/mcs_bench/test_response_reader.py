"""The authors' form, and files that are not in it."""

import json

import pytest

from keju.errors import DataError
from keju.scoring import score_responses
from keju.scoring.scoring_sample import LONGEST
from tests.support.score_json import to_json

GOOD = {"ID": "a", "Task_ID": 1, "Answer_Simplified": "天地", "Response": "天地"}


def written(tmp_path, content):
    path = tmp_path / "responses.json"
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return path


def without(key):
    return {name: value for name, value in GOOD.items() if name != key}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "not readable as JSON"),
        ("[{", "not readable as JSON"),
        (b"\xff\xfe\x00", "not readable as JSON"),
        ("[" * 100_000, "not readable as JSON"),
        ('["\ud800"]', "item 1: is text, not an object"),
        ("[NaN]", "item 1: is the number nan, not an object"),
        ({"items": []}, "expected structure"),
        ([], "contains no responses"),
        ([1], "item 1: is the number 1, not an object"),
        ([GOOD, None], "item 2: is null, not an object"),
        ([without("ID")], "item 1: has no ID"),
        ([GOOD | {"ID": ["a"]}], "ID is a list"),
        ([GOOD | {"ID": " "}], "ID is empty text"),
        ([without("Task_ID")], "has no Task_ID"),
        ([GOOD | {"Task_ID": 46}], "Task_ID '46' is not a task"),
        ([GOOD | {"Task_ID": True}], "Task_ID is true or false"),
        ([GOOD | {"Task_ID": 1.5}], "Task_ID is the number 1.5"),
        ([GOOD | {"Task_ID": "../../etc"}], "is not a task of MCS-Bench"),
        ([without("Response")], "no item has Response"),
        ([GOOD, GOOD], "occur twice"),
        ([without("Answer_Simplified")], "no item has Answer_Simplified"),
        ([GOOD | {"Response": "天" * (LONGEST + 1)}], "1,000,000. Shorten it, or remove"),
    ],
)  # fmt: skip
def test_a_file_not_in_the_form_is_one_line_naming_file_and_item(tmp_path, content, says):
    path = written(tmp_path, content)
    with pytest.raises(DataError) as caught:
        score_responses(path)
    message = str(caught.value)
    assert says in message
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 500


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        score_responses(tmp_path / "nowhere.json")


@pytest.mark.parametrize("number", [1, 1.0, "1", "T1"])
def test_the_task_may_be_a_number_or_its_name(tmp_path, number):
    scores = score_responses(written(tmp_path, [GOOD | {"Task_ID": number}]))
    assert {score.task for score in scores} == {"T1"}


def test_ids_may_be_numbers_and_repeat_in_other_tasks(tmp_path):
    rows = [GOOD | {"ID": 1}, GOOD | {"ID": 1, "Task_ID": 8}]
    assert {score.item for score in score_responses(written(tmp_path, rows))} == {"1"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("Answer_Simplified", value) for value in (None, 3, float("nan"), ["天地"], {"a": 1})),
        *(("Response", value) for value in (3, float("nan"), True, {"a": 1})),
    ],
)
def test_what_is_not_text_leaves_the_item_unscored(tmp_path, key, value):
    scores = score_responses(written(tmp_path, [GOOD | {key: value}]))
    assert scores
    for score in scores:
        assert score.value is None
        assert f"{key} is" in score.reason


def values(tmp_path, rows, item, protocol="official"):
    scores = score_responses(written(tmp_path, rows), (protocol,))
    return {each.metric: each.value for each in scores if each.item == item}


def test_a_list_is_scored_where_the_script_scores_it_and_by_its_texts_in_strict(tmp_path):
    entities = GOOD | {"ID": "b", "Task_ID": 4, "Response": ["天地"]}
    rows = [GOOD | {"Response": ["天", "地"]}, entities]
    assert set(values(tmp_path, rows, "a").values()) == {None}
    assert values(tmp_path, rows, "b")["F1"] == 1
    assert values(tmp_path, rows, "a", "strict")["CER"] == 0


def test_a_list_is_not_made_simplified_but_for_whole_words(tmp_path):
    rows = [GOOD | {"Task_ID": 3, "Response": ["學，習"], "Answer_Simplified": "学，习"}]
    assert values(tmp_path, rows, "a")["F1"] == 0
    assert values(tmp_path, [rows[0] | {"Response": ["学，习"]}], "a")["F1"] == 1


ERRORS = {"Edit_Distance", "CER", "CER_recognition"}


@pytest.mark.parametrize("task", [1, 2, 3, 4, 5, 6])
def test_an_item_without_a_response_is_a_failure_at_the_worst_value(tmp_path, task):
    rows = [GOOD | {"Task_ID": task}, without("Response") | {"ID": "b", "Task_ID": task}]
    scores = score_responses(written(tmp_path, rows))
    failed = [score for score in scores if score.item == "b" and score.value is not None]
    assert failed
    for score in failed:
        assert (score.status, score.verdict) == ("failed", "failed")
        assert score.value == float(score.metric in ERRORS)
    told = to_json(scores)["official"]
    number = str(task)
    assert told["counts"][number]["responses"] == {"answered": 1, "failed": 1}
    metric = failed[0].metric
    alone = to_json(score_responses(written(tmp_path, rows[:1])))["official"]
    assert told["without_failures"][number] == alone["tasks"][number]
    assert told["tasks"][number][metric] == alone["tasks"][number][metric] / 2


def test_null_is_read_as_empty_text(tmp_path):
    for task in (1, 2, 4, 6):
        row = GOOD | {"Task_ID": task}
        empty, null = (values(tmp_path, [row | {"Response": each}], "a") for each in ("", None))
        assert null == empty


@pytest.mark.parametrize("written_as", ["escape", "bytes"])
@pytest.mark.parametrize("key", ["Response", "Answer_Simplified", "Answer", "Question"])
def test_half_a_character_is_read_as_a_replacement_character(tmp_path, key, written_as):
    half, replaced = ([GOOD | {key: f"天{char}地"}] for char in ("\ud83d", "\ufffd"))
    content = json.dumps(half, ensure_ascii=written_as == "escape")
    assert score_responses(written(tmp_path, content)) == score_responses(
        written(tmp_path, replaced)
    )


def test_half_a_character_in_an_id_is_replaced(tmp_path):
    scores = score_responses(written(tmp_path, [GOOD | {"ID": "a\udc00"}]))
    assert {score.item for score in scores} == {"a\ufffd"}


def test_one_missing_answer_is_read_as_the_script_reads_it(tmp_path):
    rows = [GOOD, without("Answer_Simplified") | {"ID": "b"}]
    found = {
        score.metric: score
        for score in score_responses(written(tmp_path, rows), ("official",))
        if score.item == "b"
    }
    assert found["AR"].value == found["CR"].value == 0
    assert found["Edit_Distance"].value == 1
    assert found["BLEU"].value is found["F1"].value is None
    assert "KeyError" in found["BLEU"].reason


def test_the_question_gives_the_options_and_the_answer_the_traditional_text(tmp_path):
    rows = [
        GOOD | {"Task_ID": 5, "Answer_Simplified": "B", "Response": "道路"},
        GOOD | {"Answer": "學", "Answer_Simplified": "学", "Response": "學"},
    ]
    rows[0]["Question"] = "A、离开 B、道路"
    found = {
        (score.task, score.metric): score
        for score in score_responses(written(tmp_path, rows), ("strict",))
    }
    assert found["T5", "Acc"].value == 1
    assert found["T1", "CER"].stats["edits_exact"] == 0


def test_extra_keys_are_passed_over(tmp_path):
    assert score_responses(written(tmp_path, [GOOD | {"Model": "x", "Seed": [1]}]))


def test_records_in_memory_are_refused_with_the_function_that_scores_them():
    with pytest.raises(TypeError, match=r"not a list.*score_answer"):
        score_responses([], [])
