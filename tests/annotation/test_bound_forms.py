"""Bound forms: an answer is stored for what was shown, under the name it was shown to, or not."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from msgspec.structs import replace

from keju.annotation import AnnotationApp
from keju.annotation.pages import render
from keju.annotation.signing import CHANGED, GONE, NO_NAME, UNSIGNED
from keju.datasets.store import Dataset
from keju.errors import UsageError
from keju.running import Selection, run
from keju.texts import _
from tests.annotation.conftest import ask, come_in, hidden, session_in, small_items, write_dataset

pytestmark = pytest.mark.xdist_group("browser")

ANSWERS = {
    "exam": {"act": "unknown"},
    "rating": {"act": "answer", "score": "9"},
    "review": {"act": "accept"},
    "adjudication": {"act": "answer", "answer": "A"},
}


def page_of(served, person: str, path: str) -> dict[str, str]:
    """The hidden fields of a page that is open in a person's browser."""
    text = served.ask("GET", path, person=person).text
    found = {name: hidden(text, name) for name in ("ticket", "shown", "image")}
    assert found["shown"], path
    return {name: value for name, value in found.items() if value}


def number_of(served, queue: str, person: str, subject: str) -> int:
    return list(served.app.queues[queue].list_subjects(person)).index(subject) + 1


@pytest.mark.parametrize("queue", sorted(ANSWERS))
@pytest.mark.parametrize("act", ["", "skip", "undo"])
def test_a_page_of_another_person_stores_nothing_and_leads_to_the_same_card(
    serving, answered, queue, act
):
    served = serving(answered)
    assert served.ask("POST", f"/{queue}/2", person="Bo", form={"act": "skip"}).status == 303
    number = 3 if queue != "exam" else 4
    subject = served.app.queues[queue].list_subjects("Anna")[number - 1]
    form = page_of(served, "Anna", f"/{queue}/{number}") | ANSWERS[queue]
    form |= {"act": act} if act else {}
    refused = served.ask("POST", f"/{queue}/{number}", person="Bo", form=form)
    assert refused.status == 409
    assert "This page was shown to Anna, but" in refused.text
    right = f"/{queue}/{number_of(served, queue, 'Bo', subject)}"
    assert f'href="{right}"' in refused.text
    scripted = served.ask(
        "POST", f"/{queue}/{number}", person="Bo", form=form, X_Keju="script",
        Accept_Language="zh",
    )  # fmt: skip
    assert (scripted.status, json.loads(scripted.text)["link"]) == (409, right)
    assert json.loads(scripted.text)["error"].startswith("此页是给 Anna 看的")
    assert served.app.events.count() == 1, "Bo's own, not taken back"
    taken = served.ask("POST", f"/{queue}/{number}", person="Anna", form=form | ANSWERS[queue])
    assert taken.status == 303
    (act,) = served.app.events.find_latest(queue, "Anna").values()
    assert (act.person, act.subject) == ("Anna", subject)


@pytest.mark.parametrize("queue", sorted(ANSWERS))
def test_the_binding_of_a_page_cannot_be_omitted_exchanged_or_changed(serving, answered, queue):
    served = serving(answered)
    other = next(name for name in ANSWERS if name != queue)
    shown = served.shown(f"/{queue}/1", "Anna")
    body, _, signature = shown.rpartition(".")
    told = json.loads(base64.urlsafe_b64decode(body))
    assert told["person"] == "Anna"
    forged = base64.urlsafe_b64encode(json.dumps(told | {"person": "Bo"}).encode()).decode()
    for wrong in ("", ".", "é.é", f"{body}.", f"{body}.{'0' * 64}", f"{forged}.{signature}",
                  served.cookie("Bo"), served.shown(f"/{other}/1", "Bo")):  # fmt: skip
        form = ANSWERS[queue] | {"shown": wrong}
        refused = served.ask("POST", f"/{queue}/1", person="Bo", form=form)
        assert refused.status == 409, wrong
        assert UNSIGNED in refused.text
    assert served.app.events.count() == 0


def test_a_page_of_another_run_is_refused(serving, dataset, tmp_path):
    one, two = (serving(dataset, tmp_path / name) for name in ("one", "two"))
    form = {"act": "unknown", "shown": one.shown("/exam/1", "Li")}
    assert two.ask("POST", "/exam/1", person="Li", form=form).status == 409
    assert two.app.events.count() == 0


def test_after_another_model_is_added_an_open_page_rates_the_answer_that_it_showed(
    serving, answered, tmp_path
):
    served = serving(answered)
    before = list(served.app.queues["rating"].list_subjects("Cai"))
    open_pages = [page_of(served, "Cai", f"/rating/{n}") for n in range(1, len(before) + 1)]
    served.app.events.close()
    add_a_model(answered, tmp_path)
    again = serving(answered)
    after = list(again.app.queues["rating"].list_subjects("Cai"))
    assert set(before) < set(after)
    assert any(after[n] != code for n, code in enumerate(before))
    for score, form in enumerate(open_pages):
        taken = again.ask("POST", f"/rating/{score + 1}", person="Cai",
                          form=form | {"score": str(score)})  # fmt: skip
        assert taken.status == 303
    stored = again.app.events.find_latest("rating")
    assert {code: json.loads(act.value)["score"] for (_, code), act in stored.items()} == {
        code: float(score) for score, code in enumerate(before)
    }


def add_a_model(answered, tmp_path) -> None:
    """Run a third model in the run of `answered`."""
    dataset = answered.parent / "set"
    lines = [json.dumps({"item": item.id, "text": f"third {item.id}"})
             for item in Dataset.open(dataset).items()]  # fmt: skip
    (tmp_path / "three.jsonl").write_text("\n".join(lines), "utf-8")
    models = [f"replay:{tmp_path}/{name}.jsonl" for name in ("one", "two", "three")]
    with ThreadPoolExecutor(1) as pool:
        pool.submit(run, dataset, models, answered, selection=Selection()).result()


def test_a_card_that_another_sample_does_not_have_is_refused_with_a_link_to_the_queue(
    serving, answered
):
    served = serving(answered)
    subjects = list(served.app.queues["rating"].list_subjects("Cai"))
    few = serving(answered, per_task=1)
    kept = set(few.app.queues["rating"].list_subjects("Cai"))
    gone = next(n for n, code in enumerate(subjects, start=1) if code not in kept)
    form = page_of(served, "Cai", f"/rating/{gone}") | {"score": "9"}
    for number in (1, gone):
        refused = few.ask("POST", f"/rating/{number}", person="Cai", form=form)
        assert refused.status == 409
        assert GONE in refused.text
        assert 'href="/rating"' in refused.text
    assert few.app.events.count() == 0


@pytest.mark.parametrize("field", ["answer", "question", "transcription"])
def test_an_item_that_changed_since_its_page_was_opened_is_not_reviewed_unseen(
    serving, answered, field
):
    served = serving(answered)
    queue = served.app.queues["review"]
    subject = queue.list_subjects("Li")[0]
    form = page_of(served, "Li", "/review/1") | {"act": "accept"}
    queue._items[subject] = replace(queue._items[subject], **{field: "changed"})
    refused = served.ask("POST", "/review/1", person="Li", form=form)
    assert refused.status == 409
    assert CHANGED in refused.text
    assert 'href="/review/1"' in refused.text
    assert served.app.events.count() == 0
    assert served.ask("POST", "/review/1", person="Li", form={"act": "accept"}).status == 303


def test_a_form_of_a_browser_without_a_name_is_refused_and_sent_again_after_it_is_given(
    serving, answered
):
    served = serving(answered)
    form = page_of(served, "Li", "/rating/1") | {"score": "4"}
    refused = served.ask("POST", "/rating/1", form=form)
    assert refused.status == 409
    assert NO_NAME in refused.text
    assert served.app.events.count() == 0
    assert served.ask("POST", "/rating/1", person="Li", form=form).status == 303


def test_a_person_changes_only_by_a_form_of_this_session(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    for path in ("/?person=Mallory", "/exam/1?person=Mallory", "/who?name=Mallory&person=Mallory"):
        shown = served.ask("GET", path, person="Anna")
        assert shown.status == 200
        assert "Set-Cookie" not in shown.headers
        assert "Mallory" not in shown.text
    cookies = {"keju-0": served.cookie("Anna"), "keju-person": "Mallory"}
    assert "<bdi>Anna</bdi>" in ask(served.port, "GET", "/exam/1", cookies=cookies).text
    of_bo = hidden(served.ask("GET", "/who", person="Bo").text, "ticket")
    for ticket in ("", "x", of_bo):
        form = {"name": "Mallory", "next": "/", "ticket": ticket}
        refused = served.ask("POST", "/who", person="Anna", form=form)
        assert refused.status == 409
        assert "Set-Cookie" not in refused.headers
    own = hidden(served.ask("GET", "/who", person="Anna").text, "ticket")
    taken = served.ask("POST", "/who", person="Anna", form={"name": "Bo", "ticket": own})
    cookies = {"keju-0": session_in(taken, "keju-0")}
    assert "<bdi>Bo</bdi>" in ask(served.port, "GET", "/exam/1", cookies=cookies).text


class OtherSite(BaseHTTPRequestHandler):
    """Another service: a page with links and a form to keju, and the cookies that it was sent."""

    cookies: list[str]
    body = ""

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.body.encode())

    def log_message(self, *args: object) -> None:
        del args


@pytest.fixture
def other_site():
    handler = type("Handler", (OtherSite,), {"cookies": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server, handler
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_a_link_or_form_of_another_site_changes_nothing_in_chromium(
    serving, set_session, answered, other_site
):
    served, (server, handler) = serving(answered), other_site
    handler.body = (
        f'<a id=link href="{served.root}/rating?person=Mallory">a</a>'
        f'<a id=enter href="{served.root}/rating?t={served.token}">b</a>'
        f'<form method=post action="{served.root}/who"><input name=name value=Mallory>'
        "<button>c</button></form>"
    )
    page = set_session(served, "Anna", "/rating")
    other = page.context.new_page()
    there = f"http://localhost:{server.server_address[1]}/"
    for click in ("#link", "button"):
        other.goto(there)
        other.locator(click).click()
        other.wait_for_url(f"{served.root}/**")
        assert "Mallory" not in other.locator("body").inner_text()
    other.goto(f"{served.root}/rating")
    assert other.locator("header .who").inner_text() == "Anna"
    page.locator("#f-score").fill("9")
    page.locator("[value=answer]").click()
    page.wait_for_url("**/rating/2")
    assert {person for person, _ in served.app.events.find_latest("rating")} == {"Anna"}
    other.goto(there)
    other.locator("#enter").click()
    other.wait_for_url(f"{served.root}/rating")
    assert other.locator("#name").is_visible(), "a session of its own, without a name"


def test_another_service_of_this_machine_is_not_sent_the_token(
    serving, set_session, answered, other_site
):
    served, (server, handler) = serving(answered), other_site
    page = set_session(served, "Anna")
    page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
    assert any("keju-0=" in cookie for cookie in handler.cookies), "browsers do not part ports"
    assert not any(served.token in cookie for cookie in handler.cookies)


def test_in_chromium_an_open_page_says_whose_it_was_and_keeps_what_was_written(
    serving, set_session, answered
):
    served = serving(answered)
    anna = set_session(served, "Anna", "/review/2")
    anna.locator("textarea[name=reason]").fill("說得不對")
    other = anna.context.new_page()
    come_in(other, served, "Bo", "/review")
    anna.locator("[value=reject]").click()
    anna.locator("[data-error] a").wait_for()
    assert "shown to Anna" in anna.locator("[data-error]").inner_text()
    assert anna.locator("textarea[name=reason]").input_value() == "說得不對"
    assert served.app.events.count() == 0
    anna.locator("[data-error] a").click()
    anna.wait_for_url("**/review/2")
    assert anna.locator("header .who").inner_text() == "Bo"
    assert anna.locator("textarea[name=reason]").input_value() == "", "Anna's, not Bo's"


def test_answers_given_before_a_run_began_are_not_taken_for_another_dataset(
    dataset, tmp_path, serving
):
    items = small_items()
    changed = [replace(item, answer=f"{item.answer}x") if item.task == "T2" else item
               for item in items]  # fmt: skip
    other = write_dataset(tmp_path / "other", changed)
    AnnotationApp(other, tmp_path / "run").close()
    served = serving(dataset, tmp_path / "run")
    served.ask("POST", "/exam/5", person="Li", form={"act": "unknown"})
    assert not (tmp_path / "run" / "run.json").exists(), "not collected yet"
    with pytest.raises(UsageError, match="answers about another dataset"):
        AnnotationApp(other, tmp_path / "run")
    AnnotationApp(dataset, tmp_path / "run").close()


def test_the_last_page_undoes_only_events_of_its_person(serving, answered):
    served = serving(answered)
    for person in ("Anna", "Bo"):
        for number in range(1, 5):
            served.ask("POST", f"/rating/{number}", person=person, form={"score": "5"})
    form = page_of(served, "Anna", "/rating/done") | {"act": "undo"}
    refused = served.ask("POST", "/rating/0", person="Bo", form=form)
    assert refused.status == 409
    assert 'href="/rating"' in refused.text
    assert len(served.app.events.find_latest("rating")) == 8
    taken = served.ask("POST", "/rating/0", person="Anna", form=form)
    assert taken.headers["Location"].startswith("/rating/4?was=")
    assert len(served.app.events.find_latest("rating", "Anna")) == 3
    empty = served.ask("POST", "/rating/0", person="Anna", form=form | {"act": "answer"})
    assert empty.status == 409


def test_the_error_page_shows_a_hostile_name_as_text():
    text = render("message.html.j2", "en", title="x", link="/rating/1", label="y",
                  message=_("This page was shown to {}", "<b>Li</b>"))  # fmt: skip
    assert "&lt;b&gt;Li&lt;/b&gt;" in text
