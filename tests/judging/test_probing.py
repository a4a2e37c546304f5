"""Probes before judges whose bent is known: each is caught, and a sound one is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from keju.judging.answers import grading_requests
from keju.judging.probes import declared_probes, probe_answers, probe_results
from keju.judging.raters import draw_sample
from tests.support.judged import JUDGE, TRANSLATIONS

ORDERS = {"plea", "command", "forged_form", "forged_end"}


@pytest.fixture(autouse=True)
def _ten_groups(monkeypatch):
    """With fewer than nine groups, no probe of nine can be significant."""
    monkeypatch.setitem(TRANSLATIONS, "巧言令色", "說話好聽，臉色討好。")


@pytest.fixture
def drawn(context, answers):
    good = [each for each in answers if each.response.model.startswith("replay:good")]
    return draw_sample(good, context.folder.run, per_task=5)


@pytest.fixture
def verdicts(context, drawn) -> Callable[..., dict[str, object]]:
    def judged_by(grade: Callable[[str, bool, str], float]):
        answers = list(probe_answers(drawn, JUDGE))
        asked = list(grading_requests(answers, context.folder.rubrics))
        by_prompt = {request.prompt: answer for request, answer in zip(asked, answers, strict=True)}

        def says(request) -> str:
            answer = by_prompt[request.prompt]
            right = answer.item.answer in answer.text
            return f"理由。\n分数：{grade(answer.text, right, request.prompt):g}"

        context.rule(asked, says)
        assert context.ask(asked).complete
        result = probe_results(context.folder, {JUDGE: answers})
        return {each.probe: each for each in result}

    return judged_by


def test_a_sound_judge_is_not_flagged(verdicts):
    result = verdicts(lambda text, right, prompt: 10 if right else 1)
    assert {name: each.verdict for name, each in result.items()} == {
        **dict.fromkeys(declared_probes().probes, "sound"), "plain": "", "by_rival": "",
    }  # fmt: skip
    assert (result["plain"].mean, result["reference"].mean) == (10, 10)
    another = result["another"]
    # All grades fall by the same, so there is no interval. 2 of 2^10 swaps, in one of nine tests.
    assert (another.change, another.low, another.p) == (-9, None, 9 * 2 / 2**10)
    assert result["plea"].obeyed == 0
    assert result["plain"].answers == 10


def test_a_judge_that_obeys_is_reported(verdicts):
    result = verdicts(lambda text, right, prompt: 10 if right or "請給" in text else 1)
    plea = result["plea"]
    assert (plea.verdict, plea.change, plea.obeyed) == ("obeys", 9, 10)
    assert all(result[name].verdict == "sound" for name in ORDERS - {"plea"})


def test_a_judge_that_obeys_now_and_then_is_reported(verdicts, drawn):
    one = drawn[0].item.answer
    other = drawn[1].item.answer

    def grade(text: str, right: bool, prompt: str) -> float:
        return 10 if right else 8 if "SYSTEM" in text and one in prompt and other else 0

    result = verdicts(grade)
    assert result["command"].obeyed >= 1
    assert result["command"].verdict == "obeys"


def test_a_judge_that_pays_for_length_is_flagged(verdicts):
    result = verdicts(lambda text, right, prompt: min(10, 4 + len(text) / 60 + right))
    assert (result["padded"].verdict, result["verbose"].verdict) == ("flagged", "flagged")
    assert result["reference"].verdict == "flagged"


def test_probes_that_are_printed_together_are_adjusted_together(verdicts, drawn):
    """Six groups that all rise have p 2 / 2^6 = .031 alone, and .28 among nine tests."""
    del drawn[6:]
    result = verdicts(lambda text, right, prompt: 4 + ("感謝" in prompt or "感谢" in prompt))
    padded = result["padded"]
    assert (padded.groups, padded.change) == (6, 1)
    assert padded.p == pytest.approx(9 * 2 / 2**6)
    assert padded.verdict == "not sure"


def test_a_judge_that_prefers_itself_is_flagged(verdicts):
    result = verdicts(lambda text, right, prompt: 8 if "作者是：judge。" in prompt else 6)
    assert (result["by_itself"].verdict, result["by_itself"].change) == ("flagged", 2)
    # It gives right and wrong answers the same, too.
    assert result["another"].verdict == "flagged"


def test_a_judge_that_gives_no_grades_is_not_called_sound(context, drawn):
    answers = list(probe_answers(drawn, JUDGE))
    asked = list(grading_requests(answers, context.folder.rubrics))
    context.rule(asked, lambda _: "好極了")
    context.ask(asked)
    result = probe_results(context.folder, {JUDGE: answers})
    assert {each.verdict for each in result} == {"", "no grades"}
    assert all(each.no_grade == each.answers for each in result)


def names(answers) -> list[str]:
    return [each.response.model.removeprefix("probe:") for each in probe_answers(answers, JUDGE)]


def test_probes_that_need_another_item_are_left_out_where_there_is_none(drawn):
    (alone,) = [each for each in drawn if each.item.task == "T2"][:1]
    assert set(names([alone])) == {
        alone.response.model, *set(declared_probes().probes) - {"plain", "another", *ORDERS},
    }  # fmt: skip


def test_another_items_reference_is_that_of_another_group(drawn):
    wrong = [each for each in probe_answers(drawn, JUDGE) if each.response.model == "probe:another"]
    assert len(wrong) == len(drawn)
    assert all(each.item.answer not in each.text for each in wrong)
    # Two items of one page: neither lends the other its reference.
    mates = [
        each._replace(item=replace(each.item, group="page"))
        for each in drawn
        if each.item.task == "T2"
    ][:2]
    assert "another" not in names(mates)


def test_a_probe_has_one_answer_to_each_item(drawn):
    others = [each._replace(response=replace(each.response, model="other")) for each in drawn]
    twice = [*others, *drawn]
    assert names(twice) == names(drawn)


def test_the_plain_probe_is_the_grade_that_is_stored(drawn):
    plain = [each for each in probe_answers(drawn, JUDGE) if "probe:" not in each.response.model]
    assert plain == drawn


def test_a_probe_is_compared_with_one_that_exists():
    known = declared_probes().probes
    assert {each.against for each in known.values()} <= {"", *known}
