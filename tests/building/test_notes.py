"""Notes of steps: shown in the current language, stored in English."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.notes import translate_note
from keju.building.recipe import read_recipe
from keju.messages import join_clauses, listed, message, using
from tests.support.making import make_dataset

RECIPE = """
name = "trial"
licence = "CC-BY-4.0"
[[source]]
form = "dataset"
path = "one"
licence = "CC-BY-NC-SA-4.0"
[[source]]
form = "dataset"
path = "two"
name = "second"
[[step]]
do = "filter"
[[step]]
do = "subset"
limit = 2
"""

NOTES = {
    "one-form": lambda: message("steps.selected", kept=3, items=5),
    "clauses": lambda: join_clauses(
        [
            listed(
                [
                    message("steps.reviewed-accepted", count=2),
                    message("steps.reviewed-rejected", count=1),
                ]
            ),
            message("steps.not-reviewed", count=34),
        ]
    ),
    "list-inside": lambda: message(
        "steps.split-side-empty",
        side="test",
        names=listed(message("steps.task-of-units", task=task, units=1) for task in ("T1", "T7")),
    ),
    "check-inside": lambda: message(
        "steps.not-passed",
        what=message("steps.check-splits"),
        found=message("steps.in-both", groups=1, images=0),
    ),
}


@pytest.mark.parametrize("note", NOTES.values(), ids=NOTES)
def test_a_stored_note_is_translated_as_the_message_is(note) -> None:
    with using("zh"):
        shown = note()
        assert translate_note(shown.render("en")) == translate_note(shown) == shown
    with using("en"):
        assert translate_note(note().render("en")) == note()


def test_a_text_of_a_plug_in_stays_as_it_is() -> None:
    with using("zh"):
        assert translate_note("counted 7 of the signs") == "counted 7 of the signs"


def test_the_language_changes_what_a_build_prints_and_not_what_it_stores(tmp_path: Path) -> None:
    make_dataset(tmp_path / "one", pages=2)
    make_dataset(tmp_path / "two", pages=4, first=1)
    (tmp_path / "trial.toml").write_text(RECIPE)
    first = {language: build(tmp_path, language) for language in ("en", "zh")}
    again = {language: build(tmp_path, language) for language in ("en", "zh")}
    for language, other in (("en", "zh"), ("zh", "en")):
        assert len(first[language]) == len(again[language]) > 0
        assert not set(first[language]) & set(first[other])
        assert notes(first[language]) == notes(again[language])
    stored = [
        {
            file.relative_to(tmp_path / language): file.read_bytes()
            for name in ("step.json", "build.json", "items.parquet", "dataset.json")
            for file in sorted((tmp_path / language).rglob(name))
        }
        for language in ("en", "zh")
    ]
    assert stored[0] == stored[1]
    assert len(stored[0]) > 12


def build(folder: Path, language: str) -> list[str]:
    lines: list[str] = []
    with using(language):
        read = read_recipe(folder / "trial.toml")
        pipeline.build(read, folder / language, engine=Engine(), say=lines.append)
    return lines


def notes(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("    ")]
