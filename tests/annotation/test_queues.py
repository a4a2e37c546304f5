"""Rating, review and adjudication: what people decide, and the files it becomes."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from keju.annotation import AnnotationApp
from keju.building.review_form import read_review_form
from keju.building.reviewing import Verdict, apply_corrections, compute_seal, select_latest
from keju.building.reviewing.forms import read_review
from keju.cli import app
from keju.datasets.store import Dataset
from keju.definitions import query_of, task
from keju.files import read_jsonl
from keju.judging.answers import answers_of
from keju.judging.prompting import read_rubrics
from keju.judging.raters import read_ratings
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import Summary, read_decisions, score_models
from keju.scoring.stored import scores_path
from tests.annotation.conftest import HOSTILE, after, write_dataset
from tests.support.stored_scores import read_scores

pytestmark = pytest.mark.xdist_group("browser")

RATERS = {"Li": 7.0, "王": 4.5, "Zhao": 10.0}


def test_raters_have_different_orders_and_align_reads_their_sheet(
    serving, set_session, answered, tmp_path
):
    served = serving(answered)
    queue = served.app.queues["rating"]
    codes = set(queue.list_subjects("Li"))
    assert len(codes) == 4
    orders = {tuple(queue.list_subjects(f"rater {n}")) for n in range(20)}
    assert len(orders) > 5
    assert {frozenset(order) for order in orders} == {frozenset(codes)}
    for rater, score in RATERS.items():
        page = set_session(served, rater, "/rating")
        for turn in range(len(codes)):
            for told in ("replay", "one.jsonl", "two.jsonl", "human"):
                assert told not in page.content()
            assert page.locator(".rubric").inner_text().strip()
            page.keyboard.press("x" if score == 10 else str(int(score)))
            if score % 1:
                page.keyboard.press(".")
            if turn < len(codes) - 1:
                after(page, lambda page=page: page.keyboard.press("Enter"))
            else:
                page.keyboard.press("Enter")
                page.wait_for_url("**/rating/done")
    served.app.collect()
    run = RunFolder.open(answered)
    sheet = answered / "people" / "ratings.csv"
    ratings = read_ratings([sheet], answers_of(run, read_rubrics()))
    assert len(ratings) == 4
    assert all(rated.scores == RATERS for rated in ratings)
    assert {rated.answer.response.model for rated in ratings} == set(run.manifest().models)
    assert not any(name in sheet.read_text("utf-8") for name in run.manifest().models)


def test_a_rating_is_a_number_from_0_to_10_and_can_be_undone(serving, answered):
    served = serving(answered)
    for wrong in ("", "11", "-1", "nan", "ten"):
        assert served.ask("POST", "/rating/1", person="Li", form={"score": wrong}).status == 400
    served.ask("POST", "/rating/1", person="Li", form={"score": "6.3"})
    served.ask("POST", "/rating/1", person="Li", form={"score": "7"})
    served.ask("POST", "/rating/1", person="Li", form={"act": "undo"})
    served.collect()
    rows = list(csv.DictReader((answered / "people" / "ratings.csv").open(encoding="utf-8-sig")))
    assert [row["score"] for row in rows] == ["6.3"]


def test_review_accepts_corrects_and_rejects_with_a_reason(serving, set_session, answered):
    served = serving(answered)
    items = {item.id: item for item in Dataset.open(answered.parent / "set").items()}
    drafts = [item for item in items.values() if item.draft]
    page = set_session(served, "Li", "/review")
    assert page.locator(".tag", has_text="draft").is_visible()
    after(page, lambda: page.keyboard.press("a"))
    page.keyboard.press("e")
    page.locator("[data-error]:not([hidden])").wait_for()
    assert "No field is changed" in page.locator("[data-error]").inner_text()
    page.locator("textarea[name=answer]").fill(HOSTILE)
    page.locator("textarea[name=reason]").fill("原文有誤")
    after(page, lambda: page.locator("[value=correct]").click())
    page.keyboard.press("r")
    page.locator("[data-error]:not([hidden])").wait_for()
    assert "reason" in page.locator("[data-error]").inner_text()
    page.locator("textarea[name=reason]").fill("Not in the picture")
    page.locator("[value=reject]").click()
    page.wait_for_url("**/review/done")
    served.app.collect()
    said = select_latest([*read_jsonl(answered / "people" / "verdicts.jsonl", Verdict)])
    found = [said[item.id]["Li"] for item in drafts]
    assert [each.decision for each in found] == ["accept", "correct", "reject"]
    assert [each.reason for each in found] == ["", "原文有誤", "Not in the picture"]
    assert [each.seal for each in found] == [compute_seal(item) for item in drafts]
    assert found[1].corrections.fields() == {"answer": HOSTILE}
    assert apply_corrections(drafts[1], found[1]).answer == HOSTILE
    # What keju build review import reads.
    assert len(read_review(answered / "people" / "verdicts.jsonl", items, "")) == 3


def test_collecting_without_every_keeps_the_verdicts_on_all_items(serving, answered):
    """The run has drafts, so that without `every` the queue contains only these."""
    served = serving(answered, every=True)
    items = {item.id: item for item in RunFolder.open(answered).items()}
    subjects = served.app.queues["review"].list_subjects("Li")
    number = next(n for n, name in enumerate(subjects, 1) if not items[name].draft)
    assert served.ask("POST", f"/review/{number}", person="Li", form={"act": "accept"}).status < 400
    served.app.collect()
    file = answered / "people" / "verdicts.jsonl"
    before = file.read_bytes()
    assert [verdict.item for verdict in read_jsonl(file, Verdict)] == [subjects[number - 1]]
    later = serving(answered)
    assert subjects[number - 1] not in later.app.queues["review"].list_subjects("Li")
    later.app.collect()
    assert file.read_bytes() == before


def test_collecting_with_a_smaller_sample_keeps_all_ratings(serving, answered):
    served = serving(answered)
    for number in range(1, 5):
        served.ask("POST", f"/rating/{number}", person="Li", form={"score": "6"})
    served.app.collect()
    file = answered / "people" / "ratings.csv"
    before = file.read_bytes()
    later = serving(answered, per_task=1)
    assert len(later.app.queues["rating"].list_subjects("Li")) < 4
    later.app.collect()
    assert file.read_bytes() == before


def test_an_unchanged_item_is_not_a_correction(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run", every=True)
    queue = served.app.queues["review"]
    items = {item.id: item for item in Dataset.open(dataset).items()}
    for number, subject in enumerate(queue.list_subjects("Li"), start=1):
        values = queue.build_card(subject, None, "en")
        form = {name: (getattr(items[subject], name) or "").replace("\n", "\r\n")
                for name in ("question", "answer", "transcription")}  # fmt: skip
        form |= {"options": values["options"], "act": "correct"}
        if values["has_boxes"]:
            form["boxes"] = json.dumps(values["boxes"])
        refused = served.ask("POST", f"/review/{number}", person="Li", form=form)
        assert refused.status == 400, subject
        assert "No field is changed" in refused.text


def test_different_corrections_of_answer_and_transcription_are_rejected(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run", every=True)
    items = {item.id: item for item in Dataset.open(dataset).items()}
    subjects = served.app.queues["review"].list_subjects("Li")
    number = next(n for n, name in enumerate(subjects, 1) if items[name].task == "T1")
    form = {"act": "correct", "answer": "天地", "transcription": "玄黃"}
    refused = served.ask("POST", f"/review/{number}", person="Li", form=form)
    assert (refused.status, "the same text in this task" in refused.text) == (400, True)
    taken = served.ask("POST", f"/review/{number}", person="Li", form=form | {"answer": "玄黃"})
    assert taken.status < 400
    (verdict,) = served.app.queues["review"].list_verdicts(served.app.events)
    corrected = apply_corrections(items[subjects[number - 1]], verdict)
    assert (corrected.answer, corrected.transcription, corrected.lines) == ("玄黃", "玄黃", ())


def test_unclear_answers_are_adjudicated_without_reference_or_model(serving, set_session, answered):
    served = serving(answered)
    queue = served.app.queues["adjudication"]
    assert len(queue.list_subjects("Li")) == 4
    page = set_session(served, "Li", "/adjudication")
    for turn, letter in enumerate("a0c0"):
        assert "replay" not in page.content()
        assert "owned" not in page.title()
        if letter != "0":
            page.keyboard.press(letter)
        # The key 0 submits the card itself: the answer gives no value.
        key = "0" if letter == "0" else "Enter"
        if turn < 3:
            after(page, lambda key=key: page.keyboard.press(key))
        else:
            page.keyboard.press(key)
            page.wait_for_url("**/adjudication/done")
    served.app.collect()
    path = answered / "decisions.csv"
    rows = list(csv.DictReader(path.open(encoding="utf-8-sig")))
    assert sorted(row["value"] for row in rows) == ["A", "C", "none", "none"]
    stored = {(r.model, r.item): r.text for r in RunFolder.open(answered).responses()}
    assert all(stored[row["model"], row["item"]] == row["answer"] for row in rows)
    folder = RunFolder.open(answered)
    models = score_models(folder, decisions=read_decisions(path))
    scored = [decided(folder, summary) for summary in models]
    assert sorted(letter for letters in scored for letter in letters) == ["", "", "A", "C"]


def decided(folder: RunFolder, found: Summary) -> list[str]:
    """The values of strict that people decided."""
    return [score.extracted for score in read_scores(scores_path(folder, found.model))
            if score.metric == "Acc" and "unclear:people@" in score.signature]  # fmt: skip


UNSURE = "=() 難以言說，或此或彼"
NO_NAMES = "=() 可能有，也可能沒有"
WRITTEN = {"short": "或此", "number": "十二", "probability": "0.5", "entities": "或此、或彼"}
STORED = {"short": "或此", "number": "12", "probability": "0.5", "entities": "或此、或彼",
          "letter": "B", "yes-no": "No"}  # fmt: skip
"""What people decide in the test, by form of the answer, and what is stored."""


@pytest.fixture
def unsure(tmp_path, dataset):
    """A run of every form whose answers give no value."""
    items = Dataset.open(dataset).items()
    lines = []
    for item in items:
        text = NO_NAMES if query_of(item).form == "entities" else UNSURE
        row = {"item": item.id, "text": text}
        candidates = range(1, len(item.images)) if task(item.task).of_pairs else ()
        rows = [row | {"candidate": candidate} for candidate in candidates] or [row]
        lines += map(json.dumps, rows)
    (tmp_path / "unsure.jsonl").write_text("\n".join(lines), "utf-8")
    with ThreadPoolExecutor(1) as pool:
        model = f"replay:{tmp_path}/unsure.jsonl"
        pool.submit(run, dataset, [model], tmp_path / "run", selection=Selection()).result()
    return tmp_path / "run"


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_unclear_answers_of_every_form_but_boxes_are_decided(serving, set_session, unsure, locale):
    served = serving(unsure)
    queue = served.app.queues["adjudication"]
    subjects = queue.list_subjects("Li")
    page = set_session(served, "Li", "/adjudication", locale=locale)
    forms = set()
    for number, subject in enumerate(subjects, start=1):
        _item, form, _response = queue._answers[subject]
        forms.add(form)
        page.goto(f"{served.root}/adjudication/{number}")
        assert (
            page.locator("button[value=none]")
            .inner_text()
            .startswith("No value" if locale == "en-US" else "没有")
        )
        if form in WRITTEN:
            page.locator("#f-answer").fill(WRITTEN[form])
            key = "Control+Enter"
        else:
            page.keyboard.press({"letter": "b", "yes-no": "n"}[form])
            key = "Enter"
        page.keyboard.press(key)
        page.wait_for_url(lambda url, number=number: not url.endswith(f"/adjudication/{number}"))
    assert forms == STORED.keys()
    served.app.collect()
    rows = list(csv.DictReader((unsure / "decisions.csv").open(encoding="utf-8-sig")))
    values = {row["answer_key"]: row["value"] for row in rows}
    assert values == {subject: STORED[queue._answers[subject][1]] for subject in subjects}
    assert {row["answer"] for row in rows} == {f"'{UNSURE}", f"'{NO_NAMES}"}
    decisions = read_decisions(unsure / "decisions.csv")
    folder = RunFolder.open(unsure)
    scores = [
        score
        for summary in score_models(folder, decisions=decisions)
        for score in read_scores(scores_path(folder, summary.model))
    ]
    read = {score.extracted for score in scores if score.protocol == "strict" and score.extracted}
    assert read >= {"或此", "12", "或此、或彼", "B", "No"}


def test_a_value_of_another_form_is_refused_with_a_hint(serving, unsure):
    served = serving(unsure)
    queue = served.app.queues["adjudication"]
    forms = [queue._answers[subject][1] for subject in queue.list_subjects("Li")]
    for form, text in (("number", "两三个"), ("probability", "70"), ("letter", "Z"),
                       ("short", " ")):  # fmt: skip
        number = forms.index(form) + 1
        refused = served.ask("POST", f"/adjudication/{number}", person="Li", form={"answer": text})
        assert refused.status == 400, form
    number = forms.index("short") + 1
    form = {"act": "none"}
    assert served.ask("POST", f"/adjudication/{number}", person="Li", form=form).status == 303
    assert ",none," in queue.export(served.app.events)


def test_empty_drafts_are_filled_in_on_the_review_page(serving, set_session, dataset, tmp_path):
    items = {query_of(item).form: item for item in Dataset.open(dataset).items()}
    empty = [
        replace(items[form], question="", answer="", options=(), boxes=(), draft=True)
        for form in ("letter", "boxes")
    ]
    served = serving(write_dataset(tmp_path / "empty", empty), tmp_path / "run")
    page = set_session(served, "Li", "/review")
    page.locator("textarea[name=question]").fill("「庸」何意？")
    page.locator("textarea[name=options]").fill("平常\n  \n难道\n任用\n功劳")
    page.locator("textarea[name=answer]").fill("B")
    after(page, lambda: page.locator("[value=correct]").click())
    page.keyboard.press("n")
    before = json.loads(page.locator("input[name=boxes]").input_value())
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Alt+ArrowDown")
    ((left, top, right, bottom),) = json.loads(page.locator("input[name=boxes]").input_value())
    moved = [before[0][0] + 10, before[0][1], before[0][2] + 10, before[0][3] + 1]
    assert [left, top, right, bottom] == pytest.approx(moved, abs=0.11)
    page.locator("[value=correct]").click()
    page.wait_for_url("**/review/done")
    verdicts = {verdict.item: verdict for verdict in served.app.queues["review"].list_verdicts(
        served.app.events)}  # fmt: skip
    letters, boxes = (apply_corrections(item, verdicts[item.id]) for item in empty)
    assert (letters.question, letters.answer, letters.options[1]) == ("「庸」何意？", "B", "难道")
    assert [[b.x0, b.y0, b.x1, b.y1] for b in boxes.boxes] == [[left, top, right, bottom]]


def test_unavailable_queues_have_a_reason(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    assert set(served.app.closed) == {"rating", "adjudication"}
    shown = served.ask("GET", "/", person="Li").text
    assert shown.count("The run has no responses of models yet.") == 2
    assert served.ask("GET", "/rating", person="Li").status == 404
    chinese = served.ask("GET", "/", person="Li", Accept_Language="zh-CN").text
    assert "这次运行还没有模型的回答。" in chinese
    assert 'lang="zh-Hans"' in chinese


def test_answers_are_restored_after_a_restart(serving, answered):
    served = serving(answered)
    served.ask("POST", "/rating/1", person="Li", form={"score": "3"})
    again = AnnotationApp(answered)
    assert [act.value for act in again.events.find_latest("rating").values()] == ['{"score":3.0}']
    assert any("ratings" in line for line in again.collect())
    again.close()


def test_the_command_collects_without_a_server(serving, answered):
    served = serving(answered)
    served.ask("POST", "/rating/1", person="Li", form={"score": "3"})
    served.app.collect()
    people = answered / "people"
    sheets = {path.name: path.read_bytes() for path in people.glob("*.csv")}
    assert "ratings.csv" in sheets
    served.app.close()
    for name in sheets:
        (people / name).unlink()
    collected = CliRunner().invoke(app, ["serve", str(answered), "--collect"])
    assert collected.exit_code == 0, collected.output
    assert {path.name: path.read_bytes() for path in people.glob("*.csv")} == sheets


def test_marks_are_given_by_keys_kept_by_reload_and_undo_and_reach_the_tables(
    serving, set_session, answered
):
    served = serving(answered)
    page = set_session(served, "Li", "/review")
    marks = {"correct": 5, "complete": 3, "to the point": 2, "fit to publish": 4}
    for scale in read_review_form().scale:
        group = page.get_by_role("group", name=scale.asks)
        assert group.get_by_role("radio").count() == 6
        assert group.get_by_role("radio", name="no mark").is_checked()
    for key in ("f", "5", "3", "ArrowRight", "ArrowRight", "Enter", "4"):
        page.keyboard.press(key)
    assert chosen(page) == ["5", "3", "2", "4"]
    assert page.url.endswith("/review/1"), "Enter goes on among marks, and sends nothing"
    page.reload()
    assert chosen(page) == ["5", "3", "2", "4"], "what is not sent yet"
    after(page, lambda: page.keyboard.press("a"))
    assert chosen(page) == ["", "", "", ""], "another item's"
    after(page, lambda: page.keyboard.press("u"))
    assert chosen(page) == ["5", "3", "2", "4"], "what was taken back"
    assert not list(served.app.queues["review"].list_verdicts(served.app.events))
    after(page, lambda: page.keyboard.press("a"))
    for key in ("f", "0", "0", "0", "1"):
        page.keyboard.press(key)
    after(page, lambda: page.keyboard.press("a"))
    again = serving(answered)
    assert chosen(set_session(again, "Li", "/review/1")) == ["5", "3", "2", "4"], "resumed"
    again.app.collect()
    found = read_jsonl(answered / "people" / "verdicts.jsonl", Verdict)
    assert [each.marks for each in found] == [marks, {"fit to publish": 1}]
    items = {item.id: item for item in Dataset.open(answered.parent / "set").items()}
    read = read_review(answered / "people" / "verdicts.jsonl", items, "")
    assert [each.marks for each in read] == [marks, {"fit to publish": 1}]


def chosen(page) -> list[str]:
    """The marks that a page shows as chosen."""
    return page.locator("[data-marks] input:checked").evaluate_all("all => all.map(e => e.value)")


def test_marks_are_shown_in_both_languages_and_checked_by_the_form(serving, answered):
    served = serving(answered)
    pages = {
        language: served.ask("GET", "/review/1", person="Li", Accept_Language=language).text
        for language in ("en", "zh-TW")
    }
    for scale in read_review_form().scale:
        assert scale.asks in pages["en"]
        assert scale.asks_zh in pages["zh-TW"]
        assert all(word in pages["zh-TW"] for word in (scale.zh, *scale.marks_zh))
        for wrong in ("6", "0", "-1", "x", "５"):
            form = {"act": "accept", scale.key: wrong}
            refused = served.ask("POST", "/review/1", person="Li", form=form)
            assert refused.status == 400, wrong
            assert "one of the marks" in refused.text


def test_a_form_of_the_user_is_shown_and_earlier_marks_are_kept(serving, answered, tmp_path):
    served = serving(answered)
    form = {"act": "accept", "mark-correct": "3"}
    served.ask("POST", "/review/1", person="Li", form=form)
    own = tmp_path / "own.toml"
    own.write_text(
        'version = "1"\n[[scale]]\nname = "<b>clear</b>"\nzh = "明"\nasks = "Is it clear?"\n'
        'asks_zh = "明否？"\nmarks = ["no", "yes"]\n'
    )
    other = serving(answered, scales=own)
    text = other.ask("GET", "/review/1", person="Li", Accept_Language="zh").text
    assert "明否？" in text
    assert "yes" in text, "English words where the form has no others"
    assert "mark-correct" not in text
    own.write_text(own.read_text("utf-8").replace("<b>clear</b>", "correct"))
    fewer = serving(answered, scales=own).ask("GET", "/review/1", person="Li").text
    assert 'aria-label="no mark" checked' in fewer, "3 is no mark of two"
    (verdict,) = other.app.queues["review"].list_verdicts(other.app.events)
    assert verdict.marks == {"correct": 3}
