"""Every page for everybody: no serious fault for who cannot see, point or tell colours apart."""

from __future__ import annotations

import os

import pytest

from tests.annotation.conftest import come_in

try:
    from axe_playwright_python.sync_playwright import Axe
except ImportError:
    Axe = None

pytestmark = pytest.mark.xdist_group("browser")

PAGES = (
    "/nowhere", "/who", "/", "/exam", "/exam/all", "/rating", "/review", "/adjudication",
)  # fmt: skip
GRAVE = {"serious", "critical"}


@pytest.fixture
def axe():
    if Axe is None:
        reason = "the package axe-playwright-python is not installed: make install-semantic"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return Axe()


def faults(axe, page) -> list[str]:
    found = axe.run(page).response["violations"]
    return [
        f"{page.url}: {each['id']}: {node['html'][:120]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_serious_accessibility_defect(serving, set_session, answered, axe, scheme):
    served = serving(answered)
    page = set_session(served, "Li", color_scheme=scheme)
    for path in PAGES:
        page.goto(f"{served.root}{path}")
        assert not faults(axe, page)
    for number in range(1, 5):
        served.ask("POST", f"/adjudication/{number}", person="Li", form={"answer": "A"})
    page.goto(f"{served.root}/adjudication")
    assert page.url.endswith("/done")
    assert not faults(axe, page)
    page.goto(f"{served.root}/exam/1?lang=zh")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").is_visible()
    assert not faults(axe, page)


def test_question_forms_have_no_serious_accessibility_defect(
    serving, set_session, dataset, axe, tmp_path
):
    served = serving(dataset, tmp_path / "run")
    page = set_session(served, "Li", color_scheme="dark")
    exam, seen = served.app.queues["exam"], set()
    for number, subject in enumerate(exam.list_subjects(""), start=1):
        request = exam.request(subject)[1]
        kind = (request.form, bool(request.candidate))
        if kind in seen:
            continue
        seen.add(kind)
        page.goto(f"{served.root}/exam/{number}")
        if request.form == "boxes":
            page.keyboard.press("n")
        assert not faults(axe, page)
    assert len(seen) == 11


def test_pages_fit_the_width_of_a_phone(serving, set_session, answered):
    served = serving(answered)
    page = set_session(served, "Li")
    page.set_viewport_size({"width": 360, "height": 740})
    for path in PAGES:
        page.goto(f"{served.root}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_an_image_is_zoomed_and_moved_by_keys_wheel_and_touch(serving, set_session, answered):
    served = serving(answered)
    page = set_session(served, "Li", "/review", has_touch=True)
    frame = page.locator("[data-viewer]")
    looks = lambda: page.locator("[data-stage]").bounding_box()  # noqa: E731
    whole = looks()
    page.keyboard.press("+")
    assert looks()["width"] > whole["width"] * 1.2
    page.keyboard.press("0")
    assert looks()["width"] == pytest.approx(whole["width"], abs=1)
    page.keyboard.press("p")
    page.keyboard.press("ArrowLeft")
    assert looks()["x"] == pytest.approx(whole["x"] + 60, abs=1)
    frame.hover()
    page.mouse.wheel(0, -400)
    page.wait_for_function(
        "wide => document.querySelector('[data-stage]').getBoundingClientRect().width > wide",
        arg=whole["width"] * 1.3,
    )
    page.keyboard.press("0")
    pinch = """([x, y]) => {
      const at = document.querySelector('[data-viewer]');
      const go = (type, id, dx) => at.dispatchEvent(new PointerEvent(type, {pointerId: id,
        clientX: x + dx, clientY: y, bubbles: true, pointerType: 'touch', isPrimary: id === 1}));
      at.setPointerCapture = () => {};
      go('pointerdown', 1, -20); go('pointerdown', 2, 20);
      go('pointermove', 1, -80); go('pointermove', 2, 80);
      go('pointerup', 1, -80); go('pointerup', 2, 80);
    }"""
    box = frame.bounding_box()
    page.evaluate(pinch, [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    assert looks()["width"] == pytest.approx(4 * whole["width"], rel=0.05)


def test_the_timer_stops_while_the_page_is_hidden(serving, set_session, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    page = set_session(served, "Li", "/exam/5")
    page.evaluate(
        """() => {
      window.now = performance.now();
      performance.now = () => window.now;
      Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true});
      const turn = away => {
        window.away = away;
        document.dispatchEvent(new Event('visibilitychange'));
      };
      turn(true); window.now += 5000000; turn(false); window.now += 40000;
    }"""
    )
    page.locator("[value=skip]").click()
    page.wait_for_url(lambda url: not url.endswith("/exam/5"))
    (act,) = served.app.events.find_latest("exam").values()
    assert 40 <= act.seconds < 100


def test_unsent_text_is_restored_after_a_reload(serving, set_session, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    exam = served.app.queues["exam"]
    number = next(n for n, s in enumerate(exam.list_subjects(""), start=1)
                  if exam.request(s)[1].form == "transcription")  # fmt: skip
    page = set_session(served, "Li", f"/exam/{number}")
    page.locator("textarea").fill("天地玄黃")
    page.reload()
    assert page.locator("textarea").input_value() == "天地玄黃"
    come_in(page, served, "Han", f"/exam/{number}")
    assert page.locator("textarea").input_value() == ""


def test_without_scripts_answers_are_sent_too(serving, set_session, answered):
    served = serving(answered)
    page = set_session(served, "Li", "/rating", java_script_enabled=False)
    page.locator("#f-score").fill("7.5")
    page.locator("[value=answer]").click()
    page.wait_for_url("**/rating/2")
    page.locator("[value=undo]").click()
    page.wait_for_url("**/rating/1?was=*")
    assert page.locator("#f-score").input_value() == "7.5"
