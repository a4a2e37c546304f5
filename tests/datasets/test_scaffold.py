"""`keju data scaffold`: tables to fill in, and the imports that take them."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keju.cli import app
from keju.datasets.readers import import_dataset
from keju.datasets.scaffold import scaffold, scaffolded_formats
from keju.datasets.store import Dataset
from keju.definitions import is_undeciphered
from keju.errors import UsageError
from tests.support.layouts import obi_characters as trees
from tests.support.released import ancientdoc, obi_classes, obi_recognition, picture, put

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}


def rows_of(file: Path) -> list[dict[str, str]]:
    assert file.read_bytes().startswith(b"\xef\xbb\xbf")
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def write(file: Path, rows: list[dict[str, str]]) -> None:
    with file.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def run(command: str, out: Path) -> tuple[Dataset, str]:
    """Run a printed import command, with its output elsewhere."""
    words = shlex.split(command)
    words[words.index("--out") + 1] = str(out)
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    return Dataset.open(out), done.output


def test_a_release_becomes_a_table_that_the_next_command_imports(tmp_path: Path):
    src = trees.hust(tmp_path / "src")
    (made,) = scaffold("obi-deciphering", src, tmp_path / "t", {"classes": "3"})
    rows = rows_of(made.file)
    assert list(rows[0]) == ["image", "character", "description", "subset", "frequency"]
    assert len(rows) == made.rows == 3
    assert {row["character"] for row in rows} < {"一", "⊥", "王", "雨"}
    assert all(row["image"].startswith("deciphered/") and not row["description"] for row in rows)
    assert "classes=3" not in made.command
    rows[0]["description"] = "A king."
    write(made.file, rows)
    dataset, output = run(made.command, tmp_path / "out")
    assert [item.answer for item in dataset.items() if item.answer] == ["A king."]
    assert len(dataset.items()) == 6
    assert "2 of 3 known characters have no description" in " ".join(output.split())
    assert not any(is_undeciphered(item) for item in dataset.items())


def test_undeciphered_characters_are_in_the_table_where_they_are_asked_for(tmp_path: Path):
    src = trees.hust(tmp_path / "src")
    (made,) = scaffold("obi-deciphering", src, tmp_path / "t", {"undeciphered": "only"})
    assert len(rows_of(made.file)) == 3
    dataset, _ = run(made.command, tmp_path / "out")
    assert all(is_undeciphered(item) for item in dataset.items())


def test_tiers_and_radicals_are_filled_in(tmp_path: Path):
    for number in range(101):
        put(tmp_path / f"HUST-OBC/deciphered/0001/X_0001_{number}.png", picture(number))
    (made,) = scaffold("obi-deciphering", tmp_path / "HUST-OBC", tmp_path / "a")
    assert [(row["subset"], row["frequency"]) for row in rows_of(made.file)] == [("tier-2", "101")]
    src = trees.component(tmp_path / "src")
    (made,) = scaffold("obi-deciphering", src, tmp_path / "b", {"as-paper": "yes"})
    rows = rows_of(made.file)
    assert len(rows) == 50
    assert {row["subset"] for row in rows} == {"radical"}


def test_images_of_no_release_are_listed_alone(tmp_path: Path):
    src = trees.no_descriptions(tmp_path)
    (made,) = scaffold("obi-deciphering", src, tmp_path / "t")
    assert [row["image"] for row in rows_of(made.file)] == [f"images/{n}.png" for n in range(4)]
    dataset, _ = run(made.command, tmp_path / "out")
    assert len(dataset.items()) == 8


def test_images_of_recognition_are_described_in_a_table(tmp_path: Path):
    obi_recognition(tmp_path / "O2BR")
    (made,) = scaffold("obi-recognition", tmp_path / "O2BR", tmp_path / "t")
    rows = rows_of(made.file)
    assert [row["image"] for row in rows][:2] == ["images/bone1.png", "images/bone2.png"]
    rows[0]["description"] = "A shell."
    write(made.file, rows)
    dataset, output = run(made.command, tmp_path / "out")
    answers = {item.metadata["file"]: item.answer for item in dataset.items()
               if item.query == "What"}  # fmt: skip
    assert answers["images/bone1.png"] == "A shell."
    assert answers["images/bone2.png"].startswith("An oracle bone")
    assert "3 of 4 rows have no description" in " ".join(output.split())


def test_classes_get_characters_and_those_that_look_alike(tmp_path: Path):
    src = trees.class_folders("HWOBC", trees.CODES)(tmp_path)
    (made,) = scaffold("obi-classification", src, tmp_path / "t")
    rows = rows_of(made.file)
    assert [(row["class"], row["images"]) for row in rows] == [(code, "5") for code in trees.CODES]
    for row, character in zip(rows, trees.HAN, strict=True):
        row["character"] = character
    rows[0]["similar"] = rows[2]["similar"] = "yes"
    write(made.file, rows)
    dataset, _ = run(made.command, tmp_path / "out")
    found = {(item.metadata["class"], item.metadata["character"]) for item in dataset.items()}
    assert found == {(trees.CODES[0], "大"), (trees.CODES[2], "日")}


def test_books_of_ancientdoc_get_dynasty_and_script(tmp_path: Path):
    ancientdoc(tmp_path / "src")
    (made,) = scaffold("ancientdoc", tmp_path / "src", tmp_path / "t")
    rows = rows_of(made.file)
    assert sorted(row["book"] for row in rows) == ["書譜", "論語集注"]
    assert {row["dynasty"] for row in rows} == {""}
    for row in rows:
        row["dynasty"], row["script"] = "唐", "楷书"
    write(made.file, rows)
    dataset, _ = run(made.command, tmp_path / "out")
    assert {item.metadata["dynasty"] for item in dataset.items()} == {"Tang"}


def test_cells_are_no_formulas_and_files_are_never_replaced(tmp_path: Path):
    obi_classes(tmp_path / "s", classes=2)
    (tmp_path / "s/c1").rename(tmp_path / "s/=1+1")
    (made,) = scaffold("obi-classification", tmp_path / "s", tmp_path / "t")
    assert {row["class"] for row in rows_of(made.file)} == {"c0", "'=1+1"}
    with pytest.raises(UsageError, match=r"classes\.csv exists"):
        list(scaffold("obi-classification", tmp_path / "s", tmp_path / "t"))
    put(tmp_path / "O2BR/-bone.png", picture(1))
    (made,) = scaffold("obi-recognition", tmp_path / "O2BR", tmp_path / "t")
    assert [row["image"] for row in rows_of(made.file)] == ["./-bone.png"]


def test_what_cannot_be_scaffolded_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="format 'alto' has no tables to fill in"):
        list(scaffold("alto", tmp_path, tmp_path / "t"))
    with pytest.raises(UsageError, match="no such file"):
        list(scaffold("ancientdoc", tmp_path / "none", tmp_path / "t"))
    with pytest.raises(UsageError, match="has no option 'colour'"):
        list(scaffold("ancientdoc", tmp_path, tmp_path / "t", {"colour": "red"}))
    for name in ("EVOBC", "HUST-OBC"):
        put(tmp_path / f"all/{name}/images/a.png", picture(1))
    with pytest.raises(UsageError, match="give the folder of one source at a time"):
        list(scaffold("obi-deciphering", tmp_path / "all", tmp_path / "t"))


def test_the_command_detects_the_format_and_prints_the_next_command(tmp_path: Path):
    src = trees.hust(tmp_path / "src")
    command = ["data", "scaffold", "auto", str(src), "-o", str(tmp_path / "t")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "4 rows in" in text
    assert "Fill in: description, subset" in text
    assert "Next: keju data import obi-deciphering" in text


def test_a_scaffold_changes_nothing_that_was_known(tmp_path: Path):
    src = trees.hust(tmp_path / "src")
    (made,) = scaffold("obi-deciphering", src, tmp_path / "t")
    direct = import_dataset("obi-deciphering", src, tmp_path / "a", **ABOUT)
    options = {"descriptions": str(made.file)}
    by_table = import_dataset("obi-deciphering", src, tmp_path / "b", **ABOUT, options=options)
    assert direct.manifest.hash == by_table.manifest.hash
    assert set(scaffolded_formats()) == {
        "obi-deciphering", "obi-recognition", "obi-classification", "obi-retrieval", "ancientdoc",
    }  # fmt: skip
