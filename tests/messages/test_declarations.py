"""The catalogue `declarations`: the Chinese of texts that declarations have in English."""

from __future__ import annotations

from keju.judging.asking import OUTPUT_RULE as JUDGEMENT_RULE
from keju.messages import templates
from keju.models import model_kinds
from keju.running.plan_records import OUTPUT_RULE, TEXT_RULE
from keju.scoring.aggregate import one_sided_note


def _of(kind: str) -> set[str]:
    found = templates("declarations", "en")
    return {each.text.source for name, each in found.items() if name.startswith(f"{kind}-")}


def test_every_kind_of_model_and_no_other_text_has_an_entry() -> None:
    declared = {kind.what for kind in model_kinds() if not kind.plugin}
    assert _of("model") == declared


def test_every_rule_of_a_plan_has_an_entry() -> None:
    assert _of("estimate") == {TEXT_RULE, OUTPUT_RULE, JUDGEMENT_RULE}


def test_every_note_on_one_sided_tasks_has_an_entry() -> None:
    assert _of("one-sided") == {one_sided_note(yes=True), one_sided_note(yes=False)}


def test_every_entry_is_of_one_of_these_kinds() -> None:
    names = {name.split("-")[0] for name in templates("declarations", "en")}
    assert names == {"model", "estimate", "one"}
