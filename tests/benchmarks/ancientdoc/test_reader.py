"""AncientDoc's JSON lines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from keju.benchmarks.ancientdoc.reader.strata import strata
from keju.datasets.readers import Imported, import_dataset
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.definitions import prompt_of
from keju.errors import DataError
from keju.items import Item
from tests.support.released import ancientdoc_hub, picture

PAGE = "Confucianism/論語集注/p01.jpg"


def line(task: str, answer: str = "答", image: str = PAGE, question: str = "问？") -> dict:
    return {"image": image, "task": task, "question": question, "answer": answer}


class Source:
    def __init__(self, folder: Path, picture: Callable[..., bytes]) -> None:
        self.folder = folder / "ancientdoc"
        for shade, name in enumerate((PAGE, "Art/書譜/p01.jpg", "loose.jpg")):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture(shade * 90, form="JPEG"))

    def read(self, *lines: object, **options: str) -> Imported:
        text = "\n".join(json.dumps(each, ensure_ascii=False) for each in lines)
        (self.folder / "data.jsonl").write_text(text)
        about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "s"}
        named = {name.replace("_", "-"): value for name, value in options.items()}
        out = self.folder.parent / "out"
        done = import_dataset("ancientdoc", self.folder, out, **about, options=named)
        fields = ("fields used: image, task, question, answer", "fields kept")
        assert any(note.startswith(fields) for note in done.notes)
        return done

    def items(self) -> list[Item]:
        return Dataset.open(self.folder.parent / "out").items()


@pytest.fixture
def source(tmp_path: Path, picture: Callable[..., bytes]) -> Source:
    return Source(tmp_path, picture)


def test_class_and_book_come_from_the_path_and_the_book_is_the_group(source: Source) -> None:
    source.read(line("Page-level OCR", "學而"), line("Knowledge-based QA", "", "Art/書譜/p01.jpg"))
    ocr, other = source.items()
    assert (ocr.benchmark, ocr.task, ocr.group) == (
        "AncientDoc", "page_level_ocr", "Confucianism/論語集注",
    )  # fmt: skip
    assert ocr.metadata == {"page": PAGE, "category": "Confucianism", "book": "論語集注"}
    assert prompt_of(ocr) == "问？"
    assert other.group == "Art/書譜"


def test_ids_are_made_of_page_task_and_number(source: Source) -> None:
    source.read(line("reasoning_qa"), line("reasoning_qa"), line("OCR"))
    stem = PAGE.removesuffix(".jpg")
    assert [item.id for item in source.items()] == [
        f"{stem}#reasoning_qa-1", f"{stem}#reasoning_qa-2", f"{stem}#page_level_ocr-1",
    ]  # fmt: skip
    assert list(validate(source.folder.parent / "out")) == []


def test_the_ocr_answer_is_the_transcription_of_every_question_on_its_page(source: Source) -> None:
    source.read(
        line("Vernacular Translation"), line("OCR", "學而"), line("reasoning_qa", image="loose.jpg")
    )
    assert [item.transcription for item in source.items()] == ["學而", "學而", None]


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("page_level_ocr", "page_level_ocr"), ("Page-level OCR", "page_level_ocr"),
        ("整页识别", "page_level_ocr"), ("vernacular translation", "vernacular_translation"),
        ("白话翻译", "vernacular_translation"), ("Reasoning-based QA", "reasoning_qa"),
        ("推理问答", "reasoning_qa"), ("Knowledge-based QA", "knowledge_qa"),
        ("知识问答", "knowledge_qa"), ("Linguistic Variant QA", "linguistic_variant_qa"),
        ("语言变体问答", "linguistic_variant_qa"),
    ],
)  # fmt: skip
def test_tasks_go_by_id_english_or_chinese_name(source: Source, name: str, task: str) -> None:
    source.read(line(name))
    assert source.items()[0].task == task


def test_dynasty_and_script_come_from_a_table_of_books(source: Source) -> None:
    table = source.folder / "books.csv"
    table.write_text("\ufeffbook,script,dynasty,more\n論語集注,regular,Song,x\n")
    done = source.read(line("OCR"), line("OCR", image="Art/書譜/p01.jpg"), books=str(table))
    first, second = source.items()
    assert (first.metadata["dynasty"], first.metadata["script"]) == ("Song", "regular")
    assert "dynasty" not in second.metadata
    assert done.notes[0] == "the table of books has no row for 1 book: 書譜"


def test_a_table_of_books_in_the_folder_is_noted_unless_it_is_named(source: Source) -> None:
    table = source.folder / "books.csv"
    table.write_text("book,category,dynasty,script\n論語集注,Confucianism,,\n")
    done = source.read(line("OCR"))
    (note,) = (each for each in done.notes if "is a table of books" in each)
    assert note.template.startswith("{0} is a table of books and was not")
    assert note.values == (table,)
    assert len(source.items()) == 1
    shutil.rmtree(source.folder.parent / "out")
    named = source.read(line("OCR"), books=str(table))
    assert not any("is a table of books" in each for each in named.notes)


def test_a_table_of_books_alone_is_not_a_source(source: Source) -> None:
    table = source.folder / "books.csv"
    table.write_text("book,dynasty\n論語集注,Song\n")
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "s"}
    with pytest.raises(DataError, match=r"books\.csv"):
        import_dataset("ancientdoc", table, source.folder.parent / "out", **about)


def test_pages_outside_any_book_are_said_and_are_groups_of_their_own(source: Source) -> None:
    done = source.read(line("OCR", image="loose.jpg"))
    (item,) = source.items()
    assert item.group == item.images[0].sha256
    note = "1 page is not in a book's folder, so each is a separate group: loose.jpg"
    assert done.notes[0] == note
    assert done.notes[-1] == "No group column: images are the units of independence (1)"


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (line("Poetry"), "record 1: unknown task 'Poetry'; expected one of page_level_ocr, vern"),
        (line("recognition"), "unknown task 'recognition'"),
        (line("OCR", image="../data.jpg"), "1 image is missing: ../data.jpg (of record 1)"),
        (line("OCR", image=""), "file '' must be inside"),
        (line("OCR", image="Art/none.jpg"), "1 image is missing: Art/none.jpg (of record 1)"),
        (line("OCR", question=""), "record 1: the question is empty"),
        ({"image": PAGE, "task": "OCR", "question": "q"}, "no field for the answer (expected ans"),
        ([1], "line 1: not readable: Expected `object`"),
    ],
)
def test_a_wrong_line_is_named(source: Source, record: object, says: str) -> None:
    with pytest.raises(DataError) as caught:
        source.read(record)
    assert says in str(caught.value)
    assert "data.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            "title,author\nx,y\n",
            r"no column for dynasty or script; found the columns title, author\. Add",
        ),
        ("", "no line of column names"),
        ('book,dynasty,script\n"a', "line 2: not readable as a table"),
    ],
)
def test_a_wrong_table_of_books_is_named(source: Source, table: str, says: str) -> None:
    (source.folder / "books.csv").write_text(table)
    with pytest.raises(DataError, match=says):
        source.read(line("OCR"), books=str(source.folder / "books.csv"))


def test_missing_pages_can_be_left_out(source: Source) -> None:
    done = source.read(line("OCR"), line("OCR", image="Art/none.jpg"), skip_missing="yes")
    assert done.manifest.items == 1
    assert done.notes[0] == "skipped questions on 1 page: Art/none.jpg"


def test_an_empty_file_and_an_empty_folder_are_named(source: Source, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the table has no lines"):
        source.read()
    (source.folder / "data.jsonl").unlink()
    with pytest.raises(DataError, match=r"expected label\.csv, a \.jsonl"):
        import_dataset(
            "ancientdoc", source.folder, tmp_path / "o",
            name="n", version="1", licence="l", source="s",
        )  # fmt: skip


def test_the_hubs_form_holds_its_images(read, tmp_path: Path) -> None:
    ancientdoc_hub(tmp_path / "hub")
    done = read("ancientdoc", tmp_path / "hub")
    assert [item.id for item in done.items] == [f"Art/書譜/{n}#page_level_ocr-1" for n in range(3)]
    assert done.items[1].metadata == {
        "page": "Art/書譜/1.png", "category": "Art", "book": "書譜", "dynasty": "Tang",
    }  # fmt: skip
    assert (done.path / done.items[1].images[0].path).read_bytes() == picture(1)
    assert done.notes == ("fields used: image, task, question, answer, dynasty",)


@pytest.mark.parametrize("path", [".", "/", "..", "\\", "./"])
def test_a_path_in_the_hubs_form_that_names_no_file_is_named(
    read, tmp_path: Path, path: str
) -> None:
    row = line("page_level_ocr", "天地") | {"image": {"bytes": picture(1), "path": path}}
    pl.DataFrame([row]).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError) as caught:
        read("ancientdoc", tmp_path / "t.parquet")
    says = f"t.parquet: record 1: the image's path {path!r} names no file. Write CLASS/BOOK/PAGE"
    assert says in str(caught.value)


def test_strata_are_spelled_as_the_paper_spells_them(source: Source) -> None:
    page = line("OCR") | {
        "category": "philosophy of war", "book": "孫子", "dynasty": "ming dynasty",
        "script": "Cursive or semi-cursive",
    }  # fmt: skip
    odd = line("OCR", image="Art/書譜/p01.jpg") | {"dynasty": "Liao"}
    done = source.read(page, odd)
    first, second = source.items()
    assert (first.metadata["category"], first.metadata["dynasty"], first.metadata["script"]) == (
        "The Philosophy of War", "Ming", "cursive_or_semi_cursive",
    )  # fmt: skip
    assert first.group == "The Philosophy of War/孫子"
    assert second.metadata["dynasty"] == "Liao"
    assert done.notes[0] == "dynasties that the paper has not: Liao"


def test_the_strata_are_those_of_the_published_registry(shared: Path) -> None:
    registry = json.loads((shared / "published/ancientdoc_registry.json").read_text())
    ours = strata()
    assert ours["categories"] == registry["category_pages"]
    assert ours["dynasties"] == registry["dynasty_pages"]
    assert sum(ours["categories"].values()) == registry["total_pages_text_exact"]
    assert set(ours["scripts"]) == set(registry["script_style"])
