"""A release: checked, described, loaded by other programs, and taken in again the same."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.building.engine import Engine
from keju.building.markdown import format_table
from keju.building.releasing.release import STEP, ReleaseSettings, write_release
from keju.building.running import StepCall, run_step
from keju.datasets import mini
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.errors import DataError, UsageError
from keju.items import Box, Item, Line, Provenance
from tests.support.making import make_dataset, page_item, picture

ABOUT = {"name": "n", "version": "1", "licence": "CC-BY-4.0", "source": "made by the tests"}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled set, released."""
    out = tmp_path_factory.mktemp("release") / "out"
    write_release(Dataset.open(mini.path()), out, ReleaseSettings(date="2026-11-21", citation="us"))
    return out


def full() -> list[Item]:
    """An item with everything that an item can have."""
    return [
        page_item(
            "all",
            transcription="天地\n玄黃",
            lines=(Line(id="1", text="天地", polygon=((0, 0), (9, 0), (9, 9)), confidence=0.5),),
            boxes=(Box(x0=1, y0=2, x1=3, y1=4),),
            metadata={"dynasty": "唐"},
            fields={"a": "b"},
            group="book",
            provenance=(
                Provenance(step="draft", tool="openai:m", note="t1"),
                Provenance(step="review", person="王", source="scan", licence="CC-BY-4.0"),
            ),
        )
    ]


def make(path: Path, items: list[Item], **about: object) -> Dataset:
    with DatasetWriter(path, **{**ABOUT, **about}) as writer:
        for number, item in enumerate(items):
            ref = writer.add_image(picture(number), "p")
            writer.add(replace(item, images=(ref,)))
    return Dataset.open(path)


def test_a_release_comes_back_to_the_same_hash_with_everything_kept(tmp_path: Path) -> None:
    items = [*full(), replace(full()[0], id="draft", draft=True, question="[item draft] 讀。")]
    dataset = make(tmp_path / "d", items, language="lzh", script="Hant", synthetic=True)
    write_release(dataset, tmp_path / "r", ReleaseSettings(drafts=True))
    back = import_dataset("parquet", tmp_path / "r", tmp_path / "back", **ABOUT).manifest
    assert back.hash == dataset.manifest.hash
    assert (back.language, back.script, back.synthetic) == ("lzh", "Hant", True)
    assert Dataset.open(tmp_path / "back").items() == dataset.items()
    assert Dataset.open(tmp_path / "r").items() == dataset.items()


def test_the_same_dataset_gives_the_same_bytes(released: Path, tmp_path: Path) -> None:
    write_release(Dataset.open(mini.path()), tmp_path / "r",
                  ReleaseSettings(date="2026-11-21", citation="us"))  # fmt: skip
    assert (tmp_path / "r/SHA256SUMS").read_text() == (released / "SHA256SUMS").read_text()


def test_the_sums_are_those_of_every_other_file(released: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=released, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    names = {line.split("  ")[1] for line in (released / "SHA256SUMS").read_text().splitlines()}
    assert names == {path.name for path in released.iterdir()} - {"SHA256SUMS"}
    assert json.loads((released / "dataset.json").read_text())["hash"] == (
        Dataset.open(mini.path()).manifest.hash
    )


def test_croissant_gives_each_tables_hash(released: Path) -> None:
    about = json.loads((released / "croissant.json").read_text())
    files = [each for each in about["distribution"] if each["@type"] == "cr:FileObject"]
    assert {each["name"] for each in files} == {path.name for path in released.glob("*.parquet")}
    for each in files:
        data = (released / each["contentUrl"]).read_bytes()
        assert each["sha256"] == hashlib.sha256(data).hexdigest()
        assert each["contentSize"] == f"{len(data)} B"


@pytest.mark.parametrize("licence", ["unknown", " TBD ", "none"])
def test_nothing_is_released_without_a_licence(tmp_path: Path, licence: str) -> None:
    dataset = make(tmp_path / "d", full(), licence=licence)
    with pytest.raises(DataError, match=r"dataset\.json: the licence is .* a release requires one"):
        write_release(dataset, tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("word", ["licence", "source"])
def test_what_was_unknown_at_the_import_is_given_to_the_release(tmp_path: Path, word: str) -> None:
    dataset = make(tmp_path / "d", full(), **{word: "unknown"})
    with pytest.raises(DataError, match=rf"the {word} is 'unknown', .*--{word} …"):
        write_release(dataset, tmp_path / "r")
    write_release(dataset, tmp_path / "r", ReleaseSettings(**{word: "CC-BY-4.0"}))
    assert getattr(Dataset.open(tmp_path / "r").manifest, word) == "CC-BY-4.0"
    assert Dataset.open(tmp_path / "r").manifest.hash == dataset.manifest.hash
    other = make(tmp_path / "other", full(), **{word: "X"})
    with pytest.raises(UsageError, match=f"--{word} CC0-1.0: .* has the {word} 'X'"):
        write_release(other, tmp_path / "s", ReleaseSettings(**{word: "CC0-1.0"}))


def scans(licence: str) -> list[Item]:
    """Two items: one of that licence, and one that is the maker's own."""
    whence = (Provenance(step="page-xml", source="a library", licence=licence),)
    return [page_item("lent", provenance=whence), page_item("own")]


def test_items_with_another_licence_are_listed_and_released(tmp_path: Path) -> None:
    done = write_release(make(tmp_path / "d", scans("CC-BY-SA-4.0")), tmp_path / "r")
    assert any("another licence" in note and "1 under CC-BY-SA-4.0" in note for note in done.notes)
    sheet = (tmp_path / "r/DATASHEET.md").read_text()
    row = next(line for line in sheet.splitlines() if "another licence" in line)
    assert row.endswith("| NOT PASSED |")
    for page in (sheet, (tmp_path / "r/README.md").read_text()):
        assert "| CC-BY-SA-4.0 | 1 |" in page
        assert "| CC-BY-4.0 | 1 |" in page
    same = write_release(make(tmp_path / "same", scans("CC-BY-4.0")), tmp_path / "s")
    assert not [note for note in same.notes if "licence" in note]


def test_drafts_are_released_only_where_that_is_said(tmp_path: Path) -> None:
    dataset = make(tmp_path / "d", [replace(full()[0], draft=True)])
    with pytest.raises(DataError, match=r"all: 1 item is a draft .* use --drafts"):
        write_release(dataset, tmp_path / "r")
    done = write_release(dataset, tmp_path / "r", ReleaseSettings(drafts=True))
    assert any(note.startswith("not passed: no item is a draft") for note in done.notes)
    assert "> 1 item is a draft" in (tmp_path / "r/README.md").read_text()


def test_a_dataset_with_errors_is_not_released(tmp_path: Path) -> None:
    dataset = make(tmp_path / "d", full())
    image = next((tmp_path / "d/images").iterdir())
    image.write_bytes(image.read_bytes()[:-1] + b"x")
    with pytest.raises(DataError, match=r"size or SHA-256 differs.*See: keju data validate"):
        write_release(dataset, tmp_path / "r")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d"]


def test_what_was_not_passed_is_in_the_datasheet(tmp_path: Path) -> None:
    twin = [page_item("a", group="g"), page_item("b", group="g", split="reference")]
    dataset = make(tmp_path / "d", twin)
    done = write_release(dataset, tmp_path / "r")
    assert any("1 group and 0 images in both" in note for note in done.notes)
    sheet = (tmp_path / "r/DATASHEET.md").read_text()
    assert "| 1 group and 0 images in both | NOT PASSED |" in sheet


def test_the_datasheet_counts_who_did_what_and_marks_what_is_open(tmp_path: Path) -> None:
    dataset = make(tmp_path / "d", [*full(), page_item("plain")])
    answers = tmp_path / "answers.toml"
    answers.write_text('purpose = "Reading pages."\n')
    write_release(dataset, tmp_path / "r", ReleaseSettings(answers=answers))
    sheet = (tmp_path / "r/DATASHEET.md").read_text()
    assert "| draft | openai:m | — | 1 |" in sheet
    assert "| review | — | 王 | 1 |" in sheet
    assert "1 item has no provenance." in sheet
    assert "| scan | 1 |" in sheet
    assert "| CC-BY-4.0 | 2 |" in sheet
    assert "Reading pages." in sheet
    assert sheet.count("**Open: to be answered by the maker.**") == 13
    answers.write_text('purpos = "x"\n')
    with pytest.raises(UsageError, match=r"no question 'purpos'\. Did you mean 'purpose'\?"):
        write_release(dataset, tmp_path / "r2", ReleaseSettings(answers=answers))


def test_names_from_data_are_no_markup() -> None:
    shown = format_table(["a"], [["<script>|`x`\n[y](z) \x1b[2J"]])
    assert shown.splitlines()[2] == "| \\<script\\>\\|\\`x\\` \\[y\\](z) \\\\x1b\\[2J |"


def test_the_last_step_of_a_recipe_writes_the_release_beside_its_items(tmp_path: Path) -> None:
    source = Dataset.open(make_dataset(tmp_path / "d", pages=3))
    done = run_step(StepCall(STEP, ReleaseSettings(), source), tmp_path / "out", engine=Engine())
    assert done.manifest.hash == source.manifest.hash
    assert list(validate(tmp_path / "out/release")) == []
    again = run_step(StepCall(STEP, ReleaseSettings(), source), tmp_path / "out", engine=Engine())
    assert not again.built
    next_step = run_step(
        StepCall(STEP, ReleaseSettings(), Dataset.open(tmp_path / "out/release")),
        tmp_path / "from-release", engine=Engine(),
    )  # fmt: skip
    assert next_step.manifest.hash == source.manifest.hash


def test_the_folder_that_one_is_in_takes_a_release(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_release(Dataset.open(mini.path()), Path())
    assert Dataset.open(tmp_path / "here").manifest.hash == Dataset.open(mini.path()).manifest.hash


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        write_release(make(tmp_path / "d", full()), tmp_path / "r")
    assert (tmp_path / "r/mine.txt").read_text() == "mine"
