"""The exam: people are asked what models are, and their answers enter the run like any model's."""

from __future__ import annotations

import json
import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from keju.annotation import AnnotationApp, AppOptions
from keju.annotation.events import EventLog
from keju.annotation.exam import WARM_UP
from keju.annotation.fields import HumanAnswer
from keju.datasets.store import Dataset
from keju.definitions import query_of
from keju.errors import UsageError
from keju.reporting.page import write_report
from keju.running import ResponseStore, Selection
from keju.runs import RunFolder
from keju.scoring import aggregate, score_run
from tests.annotation.conftest import HOSTILE, after, ask, hidden, sign_in
from tests.support.planning import requests

pytestmark = pytest.mark.xdist_group("browser")

LONG = "天地玄黃" * 25_000


def asked_in(served, page):
    """The item and request of the card on a page."""
    number = int(page.url.rstrip("/").rpartition("/")[2].partition("?")[0])
    exam = served.app.queues["exam"]
    return exam.request(exam.list_subjects("")[number - 1])


def give_reference(page, item, request) -> None:
    """Answer one card as a person does: by keys, and boxes by the mouse."""
    match request.form:
        case "letter":
            page.keyboard.press(item.answer.lower())
        case "yes-no":
            right = request.candidate in item.relevant if request.candidate else True
            page.keyboard.press("y" if right else "n")
        case "probability":
            page.keyboard.press("9" if request.candidate in item.relevant else "2")
        case "number" | "short":
            page.keyboard.type(item.answer)
        case "boxes":
            for box in item.boxes:
                draw(page, item.images[0], box)
        case _:
            page.locator("textarea").fill(item.answer)
            return page.keyboard.press("Control+Enter")
    return page.keyboard.press("Enter")


def draw(page, ref, box) -> None:
    frame = page.locator(".picture img").bounding_box()
    scale = frame["width"] / ref.width
    corners = [(frame["x"] + x * scale, frame["y"] + y * scale)
               for x, y in ((box.x0, box.y0), (box.x1, box.y1))]  # fmt: skip
    # With Shift the picture would move; a box may begin upon another one, so from outside in.
    page.mouse.move(*corners[0])
    page.mouse.down()
    page.mouse.move(*corners[1], steps=3)
    page.mouse.up()


def test_a_whole_exam_by_keys_enters_the_run_and_is_scored(serving, set_session, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    page = set_session(served, "李雷", "/exam")
    cards, forms = served.app.queues["exam"].list_subjects(""), set()
    for _ in range(3 * len(cards)):
        if page.url.endswith("/done"):
            break
        item, request = asked_in(served, page)
        if page.locator(".reference").count():
            assert item.answer in page.locator(".reference").inner_text()
            after(page, lambda: page.keyboard.press("Enter"))
            continue
        if request.form != "boxes" or not item.boxes:
            forms.add(request.form)
        if request.form == "boxes" and len(item.boxes) > 1:
            page.keyboard.press("n")  # one in the middle, which is then removed by a key
            page.keyboard.press("Delete")
            forms.add("boxes")
        after(page, lambda item=item, request=request: give_reference(page, item, request))
    assert page.url.endswith("/done")
    assert forms == {query_of(item).form for item in Dataset.open(dataset).items()
                     if item.split == "test"}  # fmt: skip
    served.app.collect()
    run = RunFolder.open(tmp_path / "run")
    said = list(run.responses("human:李雷"))
    planned = {(r.item, r.query, r.candidate): r for _, r in requests(Dataset.open(dataset))}
    assert {(r.item, r.query, r.candidate) for r in said} == set(planned)
    assert all(response.status == "answered" for response in said)
    assert all(0 < response.seconds < 60 for response in said)
    assert run.manifest().models == {"human:李雷": {"kind": "human", "name": "李雷"}}
    results = {each.protocol: each for each in aggregate(score_run(run))}
    for task in results["strict"].tasks:
        if task.main.value is not None:
            assert task.main.value >= (0.8 if task.query == "Where" else 0.99), task.name


def test_people_see_the_requests_of_models_and_never_the_reference(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    exam = served.app.queues["exam"]
    for number, subject in enumerate(exam.list_subjects(""), start=1):
        item, request = exam.request(subject)
        shown = served.ask("GET", f"/exam/{number}", person="Li").text
        escaped = (request.prompt.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
                   .replace("'", "&#39;").replace('"', "&#34;"))  # fmt: skip
        assert escaped in shown
        assert all(f"/image/{ref.sha256}" in shown for ref in request.images)
        if request.form in {"text", "transcription", "punctuated"}:
            assert item.answer[:12] not in shown.replace(escaped, "")
        assert 'class="box true"' not in shown
        assert 'data-reference="[]"' in shown or not request.images
        assert not subject.startswith(WARM_UP) or "It is not scored" in shown


def test_postponed_cards_come_last_and_undo_returns_to_the_card(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    go = lambda: served.ask("GET", "/exam", person="Li").headers["Location"]  # noqa: E731
    first = (
        len([s for s in served.app.queues["exam"].list_subjects("") if s.startswith(WARM_UP)]) + 1
    )
    for number in range(1, first):
        served.ask("POST", f"/exam/{number}", person="Li", form={"act": "skip"})
    assert go() == f"/exam/{first}"
    served.ask("POST", f"/exam/{first}", person="Li", form={"act": "skip"})
    served.ask("POST", f"/exam/{first + 1}", person="Li", form={"act": "unknown"})
    assert go() == f"/exam/{first + 2}"
    assert served.ask("GET", "/exam", person="Han").headers["Location"] == "/exam/1"
    back = served.ask("POST", "/exam/1", person="Li", form={"act": "undo"}).headers["Location"]
    assert back.startswith(f"/exam/{first + 1}?was=")
    assert go() == f"/exam/{first + 1}"
    cards = len(served.app.queues["exam"].list_subjects(""))
    for number in range(first + 1, cards + 1):
        served.ask("POST", f"/exam/{number}", person="Li", form={"act": "unknown"})
    assert go() == "/exam/1"
    assert served.ask("GET", "/exam/done", person="Li").status == 303


def test_an_undone_answer_is_removed_from_the_run(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    cards = len(served.app.queues["exam"].list_subjects(""))
    for number in (cards - 1, cards):
        served.ask("POST", f"/exam/{number}", person="Li", form={"act": "unknown"})
    served.app.collect()
    run = RunFolder.open(tmp_path / "run")
    assert [each.status for each in run.responses("human:Li")] == ["empty", "empty"]
    served.ask("POST", "/exam/1", person="Li", form={"act": "undo"})
    served.app.collect()
    assert len(list(run.responses("human:Li"))) == 1
    served.ask("POST", "/exam/1", person="Li", form={"act": "undo"})
    served.app.collect()
    assert list(run.responses()) == []
    assert run.manifest().models == {}


def test_an_invalid_answer_is_reported_and_not_stored(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    exam = served.app.queues["exam"]
    wrong = {
        "letter": ["", "E", "A,B"], "yes-no": ["", "maybe"],
        "number": ["", "many", "-1", "1e9", "9" * 400],
        "probability": ["", "101", "-1", "nan"], "short": ["", "  "], "text": ["\n"],
        "transcription": [" "], "punctuated": [""], "entities": [""],
    }  # fmt: skip
    tried = 0
    for number, subject in enumerate(exam.list_subjects(""), start=1):
        form = exam.request(subject)[1].form
        for answer in wrong.get(form, []):
            refused = served.ask("POST", f"/exam/{number}", person="Li", form={"answer": answer})
            assert refused.status == 400, (form, answer)
            assert 'role="alert"' in refused.text
            tried += 1
        for boxes in ("[[1]]", "{}", '[[1,2,3,"x"]]', "[[1,2,NaN,4]]") if form == "boxes" else ():
            refused = served.ask("POST", f"/exam/{number}", person="Li", form={"boxes": boxes})
            assert refused.status == 400
            tried += 1
    assert tried > 20
    assert served.app.events.count() == 0
    chinese = served.ask("POST", "/exam/1", person="Li", form={"answer": ""}, X_Keju="script",
                         Accept_Language="zh-TW")  # fmt: skip
    assert json.loads(chinese.text) == {"error": "请回答，或按“不知道”"}


def test_two_people_answer_one_item_at_once_and_each_is_kept(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    exam = served.app.queues["exam"]
    number = next(n for n, s in enumerate(exam.list_subjects(""), start=1)
                  if exam.request(s)[1].form == "letter" and not s.startswith(WARM_UP))  # fmt: skip
    people = [f"person {n}" for n in range(12)]

    def answer(place: int) -> int:
        form = {"answer": "ABCD"[place % 4], "seconds": str(place)}
        return served.ask("POST", f"/exam/{number}", person=people[place], form=form).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(answer, range(12))) == {303}
    served.app.collect()
    said = {r.model: r for r in RunFolder.open(tmp_path / "run").responses()}
    assert {name: (r.text, r.seconds) for name, r in said.items()} == {
        f"human:{person}": ("ABCD"[n % 4], float(n)) for n, person in enumerate(people)
    }


def test_hostile_and_huge_answers_are_text_everywhere(serving, set_session, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    exam = served.app.queues["exam"]
    numbers = [n for n, s in enumerate(exam.list_subjects(""), start=1)
               if exam.request(s)[1].form == "text" and not s.startswith(WARM_UP)]  # fmt: skip
    page = set_session(served, "<b>Li</b>", f"/exam/{numbers[0]}")
    for number, text in zip(numbers, (HOSTILE, LONG), strict=False):
        page.goto(f"{served.root}/exam/{number}")
        page.locator("textarea").fill(text)
        after(page, lambda: page.keyboard.press("Control+Enter"))
        page.goto(f"{served.root}/exam/{number}")
        assert page.locator("textarea").input_value() == text
        assert "owned" not in page.title()
        assert page.locator("header b").count() == 0
        assert "<b>Li</b>" in page.locator("header .who").inner_text()
    too_long = served.ask("POST", f"/exam/{numbers[0]}", person="Li",
                          form={"answer": "x" * 300_001})  # fmt: skip
    assert too_long.status == 400
    vast = served.ask("POST", f"/exam/{numbers[0]}", person="Li", form={"answer": "x" * (5 << 20)})
    assert vast.status == 413
    assert "Text too long" in vast.text
    served.app.collect()
    run = RunFolder.open(tmp_path / "run")
    assert {r.text for r in run.responses()} == {HOSTILE, LONG}
    score_run(run)
    report = write_report([tmp_path / "run"], tmp_path / "report.html")
    assert b"<script>document.title='owned'" not in report.page.read_bytes()


def test_a_killed_server_loses_no_submitted_answer(command, tmp_path, browser):
    process, port, address = command()
    page = browser.new_page()
    page.goto(address)
    page.locator("#name").fill("Li")
    page.locator("form.name button").click()
    page.wait_for_function("!document.querySelector('form.name')")
    page.goto(f"http://127.0.0.1:{port}/exam")
    taken = 0
    for _ in range(3):
        after(page, lambda: page.locator("[value=skip]").click())
        taken += 1
    token = address.rpartition("=")[2]
    cookies = {f"keju-{port}": sign_in(port, token, "Han", f"keju-{port}")}
    for number in range(1, 9):
        shown = hidden(ask(port, "GET", f"/exam/{number}", cookies=cookies).text, "shown")
        taken += ask(port, "POST", f"/exam/{number}", cookies=cookies,
                     form={"act": "unknown", "shown": shown}).status == 303  # fmt: skip
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    page.locator("[value=skip]").click()
    page.locator("[data-error]:not([hidden])").wait_for()
    assert "does not respond" in page.locator("[data-error]").inner_text()
    page.close()
    events = EventLog(tmp_path / "run" / "people" / "acts.sqlite")
    assert events.count() == taken == 11
    events.close()


def test_models_can_be_added_to_a_run_that_people_started(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    served.ask("POST", "/exam/9", person="Li", form={"act": "unknown"})
    served.app.collect()
    again = serving(tmp_path / "run")
    assert again.app.queues["exam"].list_subjects("") == served.app.queues["exam"].list_subjects("")
    assert (
        again.app.events.find_latest("exam").keys() == served.app.events.find_latest("exam").keys()
    )


def test_a_run_whose_dataset_was_moved_has_a_hint(serving, dataset, tmp_path):
    moved = tmp_path / "set"
    shutil.copytree(dataset, moved)
    served = serving(moved, tmp_path / "run")
    served.ask("POST", "/exam/5", person="Li", form={"act": "unknown"})
    served.app.collect()
    moved.rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="keju serve DATASET --out"):
        AnnotationApp(tmp_path / "run")
    again = serving(tmp_path / "elsewhere", tmp_path / "run")
    assert len(again.app.events.find_latest("exam")) == 1


def test_a_full_disk_is_reported_and_the_answer_counts_as_not_stored(
    serving, set_session, dataset, tmp_path
):
    served = serving(dataset, tmp_path / "run")
    page = set_session(served, "Li", "/exam/5")
    file = served.app.events._file
    file.execute(f"PRAGMA max_page_count = {file.execute('PRAGMA page_count').fetchone()[0]}")
    for number in range(5, 200):
        form = {"act": "skip", "ticket": str(number) * 9}
        if served.ask("POST", "/exam/5", person="Li", form=form).status == 500:
            break
    stored = served.app.events.count()
    page.locator("[value=skip]").click()
    page.locator("[data-error]:not([hidden])").wait_for()
    assert "was not stored" in page.locator("[data-error]").inner_text()
    assert served.app.events.count() == stored
    file.execute("PRAGMA max_page_count = 1000000")
    page.locator("[value=skip]").click()
    page.wait_for_url("**/exam/1")
    assert served.app.events.count() == stored + 1


def test_only_the_options_of_the_run_are_accepted(serving, dataset, tmp_path):
    chosen = Selection(tasks=("T2", "T5"))
    served = serving(dataset, tmp_path / "run", selection=chosen)
    served.ask("POST", "/exam/2", person="Li", form={"act": "unknown"})
    served.app.collect()
    same = serving(dataset, tmp_path / "run", selection=chosen).app.queues["exam"]
    assert same.list_subjects("") == served.app.queues["exam"].list_subjects("")
    with pytest.raises(UsageError) as refused:
        AnnotationApp(dataset, tmp_path / "run", AppOptions(Selection(limit=1)))
    assert refused.value.template.startswith("{} was started with other items")
    for other in (
        Selection(tasks=("T2",)),
        Selection(tasks=("T2", "T5"), scripts=("simplified",)),
    ):
        with pytest.raises(UsageError) as refused:
            AnnotationApp(dataset, tmp_path / "run", AppOptions(other))
        assert refused.value.template.startswith("{} was started with other items")
    with pytest.raises(UsageError, match="no task 'T99'"):
        AnnotationApp(dataset, tmp_path / "new", AppOptions(Selection(tasks=("T99",))))


def test_a_run_that_is_being_written_gets_its_answers_later(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    served.ask("POST", "/exam/5", person="Li", form={"act": "unknown"})
    served.collect()
    run = RunFolder.open(tmp_path / "run")
    with ResponseStore(run):
        served.ask("POST", "/exam/6", person="Li", form={"act": "unknown"})
        served.collect()
        assert "another keju is writing to this run" in served.ask("GET", "/", person="Li").text
        assert len(list(run.responses())) == 1
    served.collect()
    assert "another keju" not in served.ask("GET", "/", person="Li").text
    assert len(list(run.responses())) == 2


def test_a_failed_export_is_reported_and_repeated(serving, dataset, tmp_path, monkeypatch):
    served = serving(dataset, tmp_path / "run")
    served.ask("POST", "/exam/5", person="Li", form={"act": "unknown"})
    with monkeypatch.context() as broken:
        broken.setattr(served.app, "collect", lambda: 1 / 0)
        served.collect()
        assert "division by zero" in served.ask("GET", "/", person="Li").text
    served.collect()
    assert "division by zero" not in served.ask("GET", "/", person="Li").text
    assert len(list(RunFolder.open(tmp_path / "run").responses())) == 1


def test_a_run_that_a_full_disk_prevented_is_opened_again(dataset, tmp_path):
    AnnotationApp(dataset, tmp_path / "run").close()
    (tmp_path / "run" / "run.lock").touch()
    opened = AnnotationApp(dataset, tmp_path / "run")
    opened.close()
    assert opened.queues["exam"].list_subjects("Li")


def test_the_app_needs_an_output_directory_and_its_own_dataset(dataset, tmp_path):
    with pytest.raises(UsageError, match="--out RUN"):
        AnnotationApp(dataset)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="contains other files and is not a run"):
        AnnotationApp(dataset, tmp_path / "other", AppOptions())


def test_a_changed_answer_of_a_person_has_no_score_until_the_run_is_scored_again(
    serving, dataset, tmp_path
):
    app = serving(dataset, tmp_path / "run").app
    exam = app.queues["exam"]
    subject = next(s for s in exam.list_subjects("") if exam.request(s)[1].form == "letter"
                   and not s.startswith(WARM_UP))  # fmt: skip
    for letter in "AB":
        app.events.add(
            "Li", "exam", subject, msgspec.json.encode(HumanAnswer(text=letter)).decode()
        )
        app.collect()
        if letter == "B":
            with pytest.raises(UsageError, match=r"of human:Li: T\d+\.jsonl\..* keju score"):
                write_report([tmp_path / "run"], tmp_path / "report.html")
        score_run(RunFolder.open(tmp_path / "run"))
        page = write_report([tmp_path / "run"], tmp_path / "report.html").page
        assert page.is_file()
