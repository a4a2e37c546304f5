"""Notes of steps: shown in the current language, stored in English."""

from __future__ import annotations

from pathlib import Path

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.recipe import read_recipe
from keju.texts import in_terminal, translator, using
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


def test_the_language_changes_what_a_build_prints_and_not_what_it_stores(tmp_path: Path) -> None:
    make_dataset(tmp_path / "one", pages=2)
    make_dataset(tmp_path / "two", pages=4, first=1)
    (tmp_path / "trial.toml").write_text(RECIPE)
    first = {language: build(tmp_path, language) for language in ("en", "zh")}
    again = {language: build(tmp_path, language) for language in ("en", "zh")}
    for language, other in (("en", "zh"), ("zh", "en")):
        assert len(first[language]) == len(again[language]) > 0
        assert not set(first[language]) & set(first[other])
    # Notes of finished steps are shown as step.json has them, or translated as whole sentences.
    assert notes(again["en"]) == notes(first["en"])
    translate = translator("zh")
    assert notes(again["zh"]) == [f"    {translate(note.strip())}" for note in notes(first["en"])]
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
        pipeline.build(
            read,
            folder / language,
            engine=Engine(),
            say=lambda line: lines.append(in_terminal(line)),
        )
    return lines


def notes(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("    ")]
