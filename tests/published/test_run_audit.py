"""A run of one's own is held to the same: planted faults are found, sound runs are left alone."""

from pathlib import Path

import msgspec
import pytest

from keju.datasets.store import DatasetWriter
from keju.errors import UsageError
from keju.items import Item
from keju.published import audit_run
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import read_fingerprint, score_run, stored_scores
from tests.support.making import picture
from tests.support.stored_scores import read_scores, write_scores

QUESTIONS = 60
LETTERS = "ABCD"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    """Sixty questions of four options and thirty characters of one."""
    path = tmp_path_factory.mktemp("own") / "set"
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        for n in range(QUESTIONS):
            writer.add(
                Item(
                    id=f"q{n}",
                    benchmark="MCS-Bench",
                    task="T7",
                    images=(writer.add_image(picture(n), f"q{n}"),),
                    options=("史記", "漢書", "論語", "孟子"),
                    answer=LETTERS[n % 4],
                    group=f"g{n}",
                )
            )
        for n in range(30):
            writer.add(
                Item(
                    id=f"c{n}",
                    benchmark="MCS-Bench",
                    task="T28",
                    images=(writer.add_image(picture(100 + n), f"c{n}"),),
                    answer="天地玄黃宇宙"[n % 6],
                    group=f"c{n}",
                )
            )
    return path


def audited(tmp_path, dataset, answers, *, rounds=1, spoil=None):
    """The audit of replayed answers: {model: {item: text}}; items left out have failed."""
    tmp_path.mkdir(exist_ok=True)
    specs = []
    for name, texts in answers.items():
        file = tmp_path / f"{name}.jsonl"
        lines = [msgspec.json.encode({"item": item, "text": text}) for item, text in texts.items()]
        file.write_bytes(b"\n".join(lines) + b"\n")
        specs.append(f"replay:{file}")
    run(dataset, specs, tmp_path / "run", selection=Selection(rounds=rounds))
    score_run(RunFolder.open(tmp_path / "run"))
    if spoil:
        spoil(tmp_path / "run")
    return {each.check: each for each in audit_run(tmp_path / "run").findings}


def right(**others):
    texts = {f"q{n}": LETTERS[n % 4] for n in range(QUESTIONS)}
    texts |= {f"c{n}": "天地玄黃宇宙"[n % 6] for n in range(30)}
    return {**texts, **others}


def test_a_sound_run_is_only_told_that_it_is_not_the_whole_benchmark(tmp_path, dataset):
    found = audited(tmp_path, dataset, {"good": right()})
    assert set(found) == {"whole-tasks"}
    (questions, _) = found["whole-tasks"].mismatches
    assert (questions.where, questions.printed, questions.recomputed) == (
        "T7",
        "60 items",
        "the benchmark has 145",
    )
    held = {each.check for each in audit_run(tmp_path / "run").held}
    assert {"values", "failures", "one-letter", "below-guessing"} <= held


def test_the_same_letter_everywhere(tmp_path, dataset):
    found = audited(tmp_path, dataset, {"a": right() | {f"q{n}": "A" for n in range(QUESTIONS)}})
    assert found["one-letter"].mismatches[0].printed == "60 of 60 times"
    assert "below-guessing" not in found  # it is right as often as guessing


def test_wrong_more_often_than_luck(tmp_path, dataset):
    wrong = {f"q{n}": LETTERS[(n + 1) % 4] for n in range(QUESTIONS)}
    found = audited(tmp_path, dataset, {"w": right() | wrong})
    assert found["below-guessing"].mismatches[0].printed == "0 of 60"
    assert found["below-guessing"].mismatches[0].recomputed == "guessing gets 15.0"


def test_one_model_under_two_names(tmp_path, dataset):
    errors = {f"c{n}": "日月盈昃"[n % 4] for n in range(25)}
    same = {"one": right(**errors), "two": right(**errors)}
    found = audited(tmp_path / "a", dataset, same)
    assert found["same-answers"].mismatches[0].printed == "25 wrong answers"
    one_differs = {"one": right(**errors), "two": right(**errors, c26="錯")}
    assert "same-answers" not in audited(tmp_path / "b", dataset, one_differs)


def test_two_models_that_are_right_are_no_copies(tmp_path, dataset):
    assert "same-answers" not in audited(tmp_path, dataset, {"one": right(), "two": right()})


def test_rounds_without_a_difference(tmp_path, dataset):
    assert "same-rounds" in audited(tmp_path, dataset, {"good": right()}, rounds=2)


def test_many_failures(tmp_path, dataset):
    some = {item: text for item, text in right().items() if item not in {"q1", "q2", "q3", "q4"}}
    found = audited(tmp_path, dataset, {"good": some})
    assert [each.printed for each in found["failures"].mismatches] == ["4 failed"]


def test_length_that_cr_pays_for(tmp_path, dataset):
    everything = "天地玄黃宇宙洪荒日月盈昃辰宿列張"
    long = right() | {f"c{n}": everything for n in range(30)}
    (cell,) = audited(tmp_path, dataset, {"long": long})["cr-without-precision"].mismatches
    assert cell.recomputed == "CR is 100.00"


def test_scores_that_were_tampered_with(tmp_path, dataset):
    def spoil(folder):
        (file,) = (folder / "scores").glob("*.parquet")
        scores = read_scores(file)
        place = next(n for n, score in enumerate(scores) if score.value == 1.0)
        scores[place] = msgspec.structs.replace(scores[place], value=0.5)
        write_scores(file, scores, read_fingerprint(file))

    found = audited(tmp_path, dataset, {"good": right()}, spoil=spoil)
    (value,) = found["values"].mismatches
    assert (value.printed, value.recomputed) == ("0.5", "1")


def test_what_is_no_scored_run_is_wrong_use(tmp_path, dataset):
    with pytest.raises(UsageError, match="not a run"):
        audit_run(tmp_path)
    file = tmp_path / "m.jsonl"
    file.write_bytes(b'{"item": "q0", "text": "A"}\n')
    run(dataset, [f"replay:{file}"], tmp_path / "run")
    with pytest.raises(UsageError, match="keju score"):
        audit_run(tmp_path / "run")


def test_answers_that_look_like_errors_are_listed(tmp_path, dataset):
    wrong = {"q0": "RuntimeError: CUDA error", "q1": "请求超时。", "c0": "HTTP 502: Bad Gateway"}
    found = audited(tmp_path, dataset, {"broken": right(**wrong)})["error-texts"]
    listed = {each.where: each for each in found.mismatches}
    assert {where: each.printed for where, each in listed.items()} == {
        "T7": "2 scored as answers",
        "T28": "1 scored as answers",
    }
    assert "q0" in listed["T7"].recomputed
    assert (found.severity, found.compared) == ("caution", QUESTIONS + 30)


def test_failures_of_other_programs_are_not_listed_as_answers(tmp_path, dataset):
    texts = right(q0="Failed to obtain answer: <class 'RuntimeError'> CUDA out of memory.")
    assert "error-texts" not in audited(tmp_path, dataset, {"good": texts})


def test_an_error_text_earns_nothing_in_either_protocol(tmp_path, dataset):
    """`official` reads letters in "CUDA" and "BlueLM API"."""
    errors = [
        "Failed to obtain answer: <class 'RuntimeError'> CUDA out of memory.",
        "Failed to obtain answer.",
        "Failed to obtain answer BlueLM API. ",
        "Fail to obtain answer via API.",
    ]
    texts = {f"q{n}": errors[n % 4] for n in range(QUESTIONS)}
    audited(tmp_path, dataset, {"broken": texts})
    folder = RunFolder.open(tmp_path / "run")
    scores = [each for each in stored_scores(folder) if each.task == "T7"]
    assert {(each.protocol, each.status) for each in scores} == {
        ("official", "failed"),
        ("strict", "failed"),
    }
    assert {each.value for each in scores} <= {0.0, None}
