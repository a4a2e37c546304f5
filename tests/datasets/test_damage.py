"""Every reader on damaged copies of its form: an error that a curator can act on, or a rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.errors import DataError, KejuError
from keju.items import Item
from tests.support.damage import DAMAGES, Damage, Outcome
from tests.support.released import FORMS, Form

ABOUT = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}
AT_LEAST_TWENTY = 20
KEY = re.compile(r"\[[a-z]+\] \w+|\b(?:fields|split|values)\.\w+")
"""A key of a mapping in an error: ``[fields] question``, ``split.name``."""


def imported(form: Form, src: Path, out: Path) -> tuple[str, ...]:
    return import_dataset(form.name, src, out, **ABOUT, options=dict(form.options)).notes


def complaint(damage: Damage, form_name: str, folder: Path, sound: list[Item]) -> str | None:
    """What is wrong with how a reader takes a damaged source; empty if nothing is, None if the
    damage does not fit it."""
    form = FORMS[form_name]
    src, out = folder / "src", folder / "out"
    form.build(src)
    named = damage.do(src)
    if named is None:
        return None
    outcome = damage.otherwise.get(form_name, damage.outcome)
    try:
        notes = imported(form, src, out)
    except KejuError as error:
        return wrong_error(error, named, outcome)
    if outcome in {"error", "mapping"}:
        return f"was imported, without an error that names {named}"
    if outcome == "same":
        return "" if Dataset.open(out).items() == sound else "items differ"
    if outcome == "fewer":
        ids = {item.id for item in sound}
        return "" if {item.id for item in Dataset.open(out).items()} < ids else "not a part of them"
    said = [*notes, *map(str, validate(out))]
    return "" if any(named in line for line in said) else f"{named} is not named in {said}"


def wrong_error(error: KejuError, named: str, outcome: Outcome) -> str:
    text = str(error)
    if "\n" in text or not text.isprintable():
        return f"not one printable line: {text!r}"
    if outcome == "mapping":
        has_hint = isinstance(error, DataError) and error.hint
        return "" if has_hint and KEY.search(text) else f"without a key of the mapping: {text}"
    if outcome != "error":
        return f"refused: {text}"
    if named not in text:
        return f"{named} is not named: {text}"
    if not isinstance(error, DataError) or not (error.file and error.hint):
        return f"without file or hint: {text}"
    return ""


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> dict[str, list[Item]]:
    made = {}
    for name, form in FORMS.items():
        folder = tmp_path_factory.mktemp("sound")
        form.build(folder / "src")
        imported(form, folder / "src", folder / "out")
        made[name] = Dataset.open(folder / "out").items()
    return made


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_named_with_a_hint_or_harmless_by_rule(
    tmp_path: Path, sound: dict[str, list[Item]], kind: str
) -> None:
    complaints = {}
    fitting = 0
    for number, name in enumerate(FORMS):
        said = complaint(DAMAGES[kind], name, tmp_path / str(number), sound[name])
        fitting += said is not None
        if said:
            complaints[name] = said
    assert complaints == {}
    assert fitting, "this damage fits no form"


def test_there_are_twenty_kinds_of_damage_and_every_reader_is_damaged() -> None:
    assert len(DAMAGES) >= AT_LEAST_TWENTY
    # What a mapping file describes is damaged in test_mutations.py, a draft as mcs-bench.
    missing = set(FORMATS) - {"mapped", "drafted"} - {form.name for form in FORMS.values()}
    assert not missing, f"add a small complete source to tests/support/released.py: {missing}"
    assert {form.name for form in FORMS.values()} <= set(FORMATS)
