"""One perfect engine's page has the same score, whatever form its file has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.models import ModelOptions, open_model
from keju.running import run
from keju.running.contents import access_of
from keju.runs import RunFolder
from keju.scoring import stored_scores
from keju.scoring.score import score_run
from keju.texts import Text, using
from tests.support.making import picture
from tests.support.page_forms import (
    ROWS,
    TEXT,
    equiv,
    forms,
    lossy_forms,
    page,
    region,
    text_line,
    words,
)

ABOUT = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    """A dataset of the page."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "scans" / "lunyu").mkdir(parents=True)
    (folder / "scans" / "lunyu" / "p.png").write_bytes(picture(1))
    (folder / "scans" / "lunyu" / "p.txt").write_text(TEXT, "utf-8")
    import_dataset("pages", folder / "scans", folder / "dataset", **ABOUT)
    return folder / "dataset"


def written(folder: Path, files: Mapping[str, tuple[str, bytes]]) -> dict[str, Path]:
    """A folder for each of the files."""
    folders = {name: folder / name for name in files}
    for name, (suffix, content) in files.items():
        folders[name].mkdir()
        (folders[name] / f"p{suffix}").write_bytes(content)
    return folders


def lost_text(dataset: Path, folder: Path) -> str:
    """The notes on text that is not part of the answer, of which there is at most one."""
    opened = Dataset.open(dataset)
    access = access_of(opened)
    notes = open_model(f"replay:Engine={folder}", ModelOptions(), access).notes
    said = ("text not taken: {}", "lines that the files declare as marginal")
    return "".join(
        note
        for note in notes
        if any(
            isinstance(text, Text) and text.template.startswith(said)
            for text in (note, *getattr(note, "values", ()))
        )
    )


def scored(dataset: Path, folder: Path, files: Mapping[str, tuple[str, bytes]]) -> dict[str, float]:
    """The character accuracy of each form in one run."""
    specs = [f"replay:{name}={path}" for name, path in written(folder, files).items()]
    run(dataset, specs, folder / "run")
    score_run(RunFolder(folder / "run"))
    return {
        score.model: score.value
        for score in stored_scores(RunFolder(folder / "run"))
        if (score.metric, score.protocol) == ("CharAcc", "strict")
    }


def test_a_perfect_page_is_perfect_in_every_form_of_every_level(dataset, tmp_path):
    found = scored(dataset, tmp_path, forms())
    assert len(found) > 70
    assert {name: value for name, value in found.items() if value != 1.0} == {}


def test_a_perfect_page_has_no_note_of_lost_text(dataset, tmp_path):
    folders = written(tmp_path, forms())
    found = {name: lost_text(dataset, folder) for name, folder in folders.items()}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("name", lossy_forms())
def test_text_that_is_not_taken_is_named(dataset, tmp_path, name):
    suffix, content, place = lossy_forms()[name]
    (folder,) = written(tmp_path, {name: (suffix, content.encode())}).values()
    note = lost_text(dataset, folder)
    assert place in note
    with using("zh"):
        assert place in lost_text(dataset, folder)
    if "marginal" in note:
        return
    lost = 4 if name == "page more words than in the line" else 5
    assert f"text not taken: {lost} characters in 1 file, " in note
    assert f" read: {folder.name}/p{suffix}, " in note
    form = {".hocr": "hocr"}.get(suffix, name.split()[0].replace("page", "page-xml"))
    done = import_dataset(form, folder, tmp_path / "imported", **ABOUT)
    assert note.removeprefix("Engine: ") in done.notes


def test_long_notes_name_the_first_places(dataset, tmp_path):
    text = "".join(
        f'<TextLine id="l{at}">學而時習之不亦說乎有朋自遠方來</TextLine>' for at in range(7)
    )
    folder = written(tmp_path, {"page": (".xml", page(region(text)).encode())})["page"]
    note = lost_text(dataset, folder)
    assert note.startswith("Engine: text not taken: 105 characters in 1 file, at places")
    assert "page/p.xml, TextLine l0: “學而時習之不亦說乎有朋自…”; page/p.xml, TextLine l1: " in note
    assert note.endswith("TextLine l4: “學而時習之不亦說乎有朋自…” and 2 more")


def test_a_correction_at_one_level_is_not_lost_text(dataset, tmp_path):
    """Lines were corrected, but not their words and region."""
    wrong = TEXT.replace("說", "悅").replace("慍", "溫")
    inner = "".join(
        text_line(row, equiv(row.text) + words(row._replace(text=text)))
        for row, text in zip(ROWS, wrong.split("\n"), strict=True)
    )
    content = page(region(inner + equiv(wrong))).encode()
    folder = written(tmp_path, {"page": (".xml", content)})["page"]
    assert lost_text(dataset, folder) == ""


def test_a_place_and_a_text_from_a_file_are_shown_without_control_characters(dataset, tmp_path):
    text = '<TextLine id="l1\x9b">天\x9b31m\u202e地</TextLine>'
    folder = written(tmp_path, {"page": (".xml", page(region(text)).encode())})["page"]
    assert "TextLine l1: “天31m地”" in lost_text(dataset, folder)
