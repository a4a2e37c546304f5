from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from keju.errors import DataError, UsageError
from keju.items import Failure, Response
from keju.models import AskError, ModelOptions, open_model
from tests.models.conftest import replayed


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def response(item: str, text: str, **fields: object) -> bytes:
    settings = {"key": f"k{item}", "model": "m", "benchmark": "b", "task": "t", **fields}
    settings.setdefault("status", "answered")
    return msgspec.json.encode(Response(item=item, text=text, **settings)) + b"\n"


def test_lines_of_item_and_text(tmp_path: Path):
    file = lines(tmp_path / "a.jsonl", {"item": "x", "text": "天"}, {"item": 7, "text": ""})
    assert replayed(file, "x", round=3).text == "天"
    assert replayed(file, "7").status == "empty"
    with pytest.raises(AskError) as caught:
        replayed(file, "other")
    assert caught.value.kind == "missing-answer"


def test_the_authors_form(tmp_path: Path):
    file = tmp_path / "RESPONSES.json"
    rows = [
        {"ID": 12, "Task_ID": 1, "Answer_Simplified": "天", "Response": "地"},
        {"ID": "y", "Response": None},
        {"ID": "z", "Response": ["天", "地"]},
        {"ID": "no", "Task_ID": 1},
        {"ID": "told", "Response": "Failed to obtain answer via API."},
    ]
    file.write_text("\ufeff" + json.dumps(rows), "utf-8")
    assert replayed(file, "12").text == "地"
    assert (replayed(file, "y").text, replayed(file, "y").status) == ("", "empty")
    assert (replayed(file, "z").text, bool(replayed(file, "z").not_text)) == ("天地", True)
    for name, kind in {"told": "failed-elsewhere", "no": "missing-answer"}.items():
        with pytest.raises(AskError) as caught:
            replayed(file, name)
        assert caught.value.kind == kind


def test_kejus_own_responses_with_their_rounds_status_and_failures(tmp_path: Path):
    file = tmp_path / "T1.jsonl"
    file.write_bytes(
        response("x", "", status="failed", error=Failure(kind="server", message="away"))
        + response("x", "one", thinking="hm", finish_reason="stop")
        + response("x", "two", round=2, status="truncated")
        + response("y", "", status="failed", error=Failure(kind="rate", message="slower"))
    )
    first, second = replayed(file, "x"), replayed(file, "x", round=2)
    assert (first.text, first.thinking, first.status) == ("one", "hm", "answered")
    assert (second.text, second.status) == ("two", "truncated")
    with pytest.raises(AskError, match="slower") as caught:
        replayed(file, "y")
    assert caught.value.kind == "rate"
    with pytest.raises(AskError) as caught:
        replayed(file, "x", round=3)
    assert caught.value.kind == "missing-answer"


def test_another_harnesss_failure_text_is_a_failure_and_no_answer(tmp_path: Path):
    text = "Failed to obtain answer via API. \nTimeoutError"
    file = lines(tmp_path / "a.jsonl", {"item": "x", "text": text})
    with pytest.raises(AskError) as caught:
        replayed(file, "x")
    assert (caught.value.kind, caught.value.retryable) == ("failed-elsewhere", False)


def test_two_different_answers_are_refused_and_the_same_twice_is_not(tmp_path: Path):
    row = {"item": "x", "text": "天"}
    assert replayed(lines(tmp_path / "a.jsonl", row, row), "x").text == "天"
    file = lines(tmp_path / "b.jsonl", row, {"item": "x", "text": "地"})
    with pytest.raises(
        DataError, match=r"b\.jsonl: record 2: two .* item x; .*b\.jsonl, record 1"
    ) as caught:
        open_model(f"replay:{file}", ModelOptions())
    assert caught.value.file == str(file)


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.jsonl", b'{"item": "x"', "line 1: not readable"),
        ("a.jsonl", b'{"text": "x"}', "record 1: the table needs one column id or item"),
        ("a.jsonl", b'{"item": "x", "text": "y"}\n{"item": "z"}', "record 2: the response has no"),
        ("a.jsonl", b'\n\n{"item": ["x"], "text": ""}', "record 1"),
        ("a.jsonl", b'{"item": "x", "text": 3}', "record 1"),
        ("a.jsonl", b'{"item": "x", "text": "", "round": 99999999999999999999}', "record 1"),
        ("a.jsonl", b"\xff\xfa", "the text is not UTF-8"),
        ("a.json", b'[{"Response": "x"}]', "object 1"),
        ("a.json", b'["x"]', "object 1"),
        ("a.json", b"[" * 100_000, "not readable as JSON"),
        ("a.pkl", b"\x80\x04\x95", "none of the endings of a table"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "none of the endings of a table"),
    ],
)
def test_a_bad_file_is_one_line_that_names_the_place(
    tmp_path: Path, name: str, content: bytes, place: str
):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        open_model(f"replay:{file}", ModelOptions())
    assert place in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_wrong_use():
    with pytest.raises(UsageError, match="no such file"):
        open_model("replay:nowhere.jsonl", ModelOptions())
    with pytest.raises(UsageError, match="needs a file"):
        open_model("replay:", ModelOptions())


def test_an_empty_file_beside_others_has_no_answers(tmp_path: Path):
    (tmp_path / "T1.jsonl").touch()
    lines(tmp_path / "T2.jsonl", {"item": "x", "text": "天"})
    assert replayed(tmp_path, "x").text == "天"


def test_ids_that_start_again_in_every_task_are_told_apart_by_task(tmp_path: Path):
    file = tmp_path / "RESPONSES.json"
    rows = [
        {"ID": 1, "Task_ID": 1, "Response": "天"},
        {"ID": 1, "Task_ID": "T7", "Response": "B"},
        {"ID": 2, "Task_ID": 7.0, "Response": "C"},
    ]
    file.write_text(json.dumps(rows), "utf-8")
    asked = {"T1": ("1", "T1-1"), "T7": ("1", "T7-1")}
    for (task, names), text in zip(asked.items(), ("天", "B"), strict=True):
        for name in names:
            assert replayed(file, name, task=task).text == text
    assert replayed(file, "2").text == "C"
    with pytest.raises(AskError):
        replayed(file, "1")


def test_of_several_lines_the_one_with_most_values_of_the_request_is_read(tmp_path: Path):
    file = lines(
        tmp_path / "a.jsonl",
        {"item": "x", "text": "any"},
        {"item": "x", "text": "own", "setting": "own-ocr"},
        {"item": "x", "text": "own, 2", "setting": "own-ocr", "round": 2},
        {"item": "x", "text": "2", "round": 2},
        {"item": "x", "text": "candidate", "candidate": 1},
    )
    asked = [
        replayed(file, "x", setting=setting, round=number).text
        for setting in ("image", "own-ocr")
        for number in (1, 2)
    ]
    assert asked == ["any", "2", "own", "own, 2"]
    assert replayed(file, "x", candidate=1).text == "candidate"
    with pytest.raises(AskError):
        replayed(file, "x", candidate=2)
