"""The catalogue `declarations`: the Chinese of texts that declarations have in English."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from keju.messages import templates

import keju
from keju.judging.asking import OUTPUT_RULE as JUDGEMENT_RULE
from keju.models import model_kinds
from keju.running.plan_records import OUTPUT_RULE, TEXT_RULE
from keju.scoring.aggregate import one_sided_note

PACKAGE = Path(keju.__file__).parent


def _of(kind: str) -> set[str]:
    found = templates("declarations", "en")
    return {each.text.source for name, each in found.items() if name.startswith(f"{kind}-")}


def test_every_kind_of_model_and_no_other_text_has_an_entry() -> None:
    declared = {kind.what for kind in model_kinds() if not kind.plugin}
    assert _of("model") == declared, "messages/*/declarations.toml needs the texts of kinds.toml"


def test_every_rule_of_a_plan_has_an_entry() -> None:
    assert _of("estimate") == {TEXT_RULE, OUTPUT_RULE, JUDGEMENT_RULE}


def test_every_note_on_one_sided_tasks_has_an_entry() -> None:
    assert _of("one-sided") == {one_sided_note(yes=True), one_sided_note(yes=False)}


WORD = re.compile(r"[A-Za-z]{2,}")


def _words_of_modules() -> list[set[str]]:
    """For each module and table of the program, the words in its strings."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        strings = [each.value for each in nodes if isinstance(each, ast.Constant)]
        found.append(set(WORD.findall(" ".join(map(str, strings)))))
    names = ("models/kinds.toml", "judging/probes.toml")
    tables = [PACKAGE / name for name in names]
    return [*found, *(set(WORD.findall(path.read_text("utf-8"))) for path in tables)]


def test_the_words_of_every_entry_are_in_one_module() -> None:
    modules = _words_of_modules()
    missing = []
    for name, entry in templates("declarations", "en").items():
        text = re.sub(r"\{\w+:([^}|]+)\|[^}]*\}", r"\1", entry.text.source)
        words = set(WORD.findall(re.sub(r"\{[^}]*\}", " ", text)))
        if not any(words <= each for each in modules):
            missing.append(name)
    assert missing == []
