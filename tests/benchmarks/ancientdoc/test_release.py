"""AncientDoc as it is released: one wide table, images by category and book, or images alone."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from keju.benchmarks.ancientdoc.reader.columns import TaskColumns, wide_columns
from keju.benchmarks.ancientdoc.reader.detecting import detect_ancientdoc
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.obstacles import find_obstacle
from keju.datasets.values import canonical
from keju.definitions import prompt_of
from keju.definitions import task as find_task
from keju.errors import DataError, UsageError
from tests.support.layouts import ancientdoc
from tests.support.released import picture, put
from tests.support.workbooks import write_workbook

FIRST = "兵家类/兵垣四編/page_5"


def test_a_row_gives_the_five_tasks_with_the_papers_prompts(read, tmp_path):
    done = read("ancientdoc", ancientdoc.hub(tmp_path / "src"))
    tasks = [item.task for item in done.items if item.group == "The Philosophy of War/兵垣四編"]
    assert tasks == ["page_level_ocr", "vernacular_translation", *["reasoning_qa"] * 2,
                     *["knowledge_qa"] * 2, *["linguistic_variant_qa"] * 2]  # fmt: skip
    ocr, translation, question, *_ = done.items
    assert prompt_of(ocr) == find_task("page_level_ocr").queries[0].template == ancientdoc.READ
    assert prompt_of(translation) == ancientdoc.TRANSLATE
    assert (prompt_of(question), question.answer) == ("为何慎战？", "关乎存亡。")
    assert {item.transcription for item in done.items[:8]} == {"兵垣四編\n孫子曰兵者國之大事"}
    assert ocr.id == f"{FIRST}#page_level_ocr-1"
    assert ocr.metadata == {"page": f"{FIRST}.png", "category": "The Philosophy of War",
                            "book": "兵垣四編"}  # fmt: skip


def test_tasks_without_columns_are_reported_with_the_columns_that_are_left(read, tmp_path):
    rows = [row | {"译注": "长" * 300, "author": "孙武"} for row in ancientdoc.wide(ocr_only=True)]
    ancientdoc.write_csv(tmp_path / "src/label.csv", rows)
    ancientdoc.images(tmp_path / "src", "imgs")
    done = read("ancientdoc", tmp_path / "src")
    assert {item.task for item in done.items} == {"page_level_ocr"}
    (note,) = [note for note in done.notes if note.startswith("no columns for")]
    assert note.startswith(
        "no columns for vernacular_translation, reasoning_qa, knowledge_qa, linguistic_variant_qa"
    )
    assert "other columns: type, name, 译注, author" in note
    assert done.items[0].metadata["author"] == "孙武"
    assert {"fields kept as metadata: author", "fields ignored: 译注"} <= set(done.notes)


def test_options_name_the_columns_of_tasks(read, tmp_path):
    rows = [
        {"cat": "兵家类", "pic": "兵鏡page_1.png", "w": "原", "x": "今", "y": "何人？", "z": "某。"}
    ]
    ancientdoc.write_csv(tmp_path / "src/label.csv", rows)
    put(tmp_path / "src/imgs/兵家类/兵鏡/page_1.png", picture(1))
    done = read("ancientdoc", tmp_path / "src", **{
        "field.image": "pic", "field.category": "cat", "field.page_level_ocr": "w",
        "field.vernacular_translation": "x", "field.knowledge_qa_question_1": "y",
        "field.knowledge_qa_answer_1": "z",
    })  # fmt: skip
    assert [(item.task, item.answer) for item in done.items] == [
        ("page_level_ocr", "原"), ("vernacular_translation", "今"), ("knowledge_qa", "某。"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match=r"page.level.ocr=v: no such column"):
        read("ancientdoc", tmp_path / "src", **{"field.page_level_ocr": "v"})


@pytest.mark.parametrize(
    ("column", "task", "kind"),
    [
        ("OCR", "page_level_ocr", "text"), ("ocr_text", "page_level_ocr", "text"),
        ("vernacular translation", "vernacular_translation", "text"),
        ("白話翻譯", "vernacular_translation", "text"),
        ("Reasoning-based QA", "reasoning_qa", "both"), ("推理問答", "reasoning_qa", "both"),
        ("model", None, ""), ("OCR model", None, ""), ("translation score", None, ""),
        ("reasoning_question", None, ""),
    ],
)  # fmt: skip
def test_a_column_is_one_tasks_or_none(column, task, kind):
    found = wide_columns(["name", column])
    if task is None:
        assert found is None
    else:
        assert found.asked == (TaskColumns(task, column if kind == "both" else "", column),)


@pytest.mark.parametrize(
    ("question", "answer", "task"),
    [
        ("reasoning_q1", "reasoning_a1", "reasoning_qa"),
        ("Q1_knowledge", "A1_knowledge", "knowledge_qa"),
        ("Knowledge-based QA Question 1", "Knowledge-based QA Answer 1", "knowledge_qa"),
        ("语体问答问题1", "语体问答答案1", "linguistic_variant_qa"),
        ("variant_question", "variant_answer", "linguistic_variant_qa"),
    ],
)
def test_question_and_answer_columns_belong_together(question, answer, task):
    assert wide_columns([answer, "name", question]).asked == (TaskColumns(task, question, answer),)


def test_images_twice_are_imported_once_and_reported(read, tmp_path):
    src = ancientdoc.hub(tmp_path / "src")
    ancientdoc.images(src, "imgs/imgs")
    put(src / "imgs/imgs/艺术类/書譜/page_12.png", picture(77))
    put(src / "imgs/艺术类/書譜/page_13.png", picture(78))
    done = read("ancientdoc", src)
    assert len({item.images[0].sha256 for item in done.items}) == 2
    assert "1 byte-identical copy of images not imported: imgs/imgs/兵家类" in str(done.notes)
    assert "1 image has the name of another page but other bytes, not" in str(done.notes)
    assert "1 image without a row, not imported: imgs/艺术类/書譜/page_13.png" in done.notes


def test_empty_cells_give_no_item_and_are_counted(read, tmp_path):
    rows = ancientdoc.wide()
    rows[1]["OCR"] = " "
    ancientdoc.write_csv(tmp_path / "src/label.csv", rows)
    ancientdoc.images(tmp_path / "src", "imgs")
    done = read("ancientdoc", tmp_path / "src")
    assert all(item.answer.strip() for item in done.items)
    assert [item.transcription for item in done.items if "書譜" in item.group] == [None]
    (note,) = [note for note in done.notes if note.startswith("no item from cells")]
    assert "1 of page_level_ocr" in note


def test_cells_that_do_not_tell_question_and_answer_apart_are_named(read, tmp_path):
    rows = [{"type": "兵家类", "name": "兵鏡page_1.png", "OCR": "兵", "Knowledge": "何人著此书"}]
    ancientdoc.write_csv(tmp_path / "src/label.csv", rows)
    put(tmp_path / "src/imgs/兵家类/兵鏡/page_1.png", picture(1))
    done = read("ancientdoc", tmp_path / "src")
    assert [item.task for item in done.items] == ["page_level_ocr"]
    assert "1 cell does not separate question and answer" in str(done.notes)
    assert "Knowledge of line 2" in str(done.notes)


def test_rows_without_image_stop_the_import_or_are_skipped(read, tmp_path):
    src = ancientdoc.hub(tmp_path / "src")
    (src / f"imgs/{FIRST}.png").unlink()
    with pytest.raises(DataError, match=r"1 row without image: 兵家类/兵垣四編page_5\.png \(of li"):
        read("ancientdoc", src)
    done = read("ancientdoc", src, skip_missing="yes")
    assert {item.metadata["book"] for item in done.items} == {"書譜"}
    assert "skipped 1 row without image: 兵家类/兵垣四編page_5.png" in done.notes


def test_a_table_that_git_lfs_left_out_is_named(read, tmp_path):
    src = ancientdoc.hub(tmp_path / "src")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 11400000\n"
    put(src / "label.csv", pointer)
    with pytest.raises(DataError, match=r"label\.csv: a Git LFS pointer, not the file itself"):
        read("ancientdoc", src)
    found = find_obstacle(Listing(src))
    assert "label.csv" in found.problem
    assert "lfs pull" in found.hint


def test_a_page_name_of_two_categories_is_found_by_its_category(read, tmp_path):
    rows = [{"type": kind, "name": "文集page_1.png", "OCR": kind} for kind in ("总集类", "别集类")]
    ancientdoc.write_csv(tmp_path / "src/label.csv", rows)
    for number, row in enumerate(rows):
        put(tmp_path / f"src/imgs/{row['type']}/文集/page_1.png", picture(number))
    done = read("ancientdoc", tmp_path / "src")
    assert [item.metadata["page"] for item in done.items] == [
        "总集类/文集/page_1.png", "别集类/文集/page_1.png",
    ]  # fmt: skip
    assert len({item.images[0].sha256 for item in done.items}) == 2


def test_images_alone_can_be_run_and_their_answers_are_named(read, tmp_path):
    rows = [{"image": {"bytes": picture(n), "path": "page_1.png"}} for n in (1, 2)]
    ancientdoc.write_parquet(tmp_path / "src/data/train-00000-of-00001.parquet", rows)
    done = read("ancientdoc", tmp_path / "src")
    assert [(item.task, item.answer) for item in done.items] == [("page_level_ocr", "")] * 2
    assert prompt_of(done.items[0]) == ancientdoc.READ
    assert len({item.group for item in done.items}) == 2
    assert done.notes[0].startswith("2 images without answers: they can be run")
    assert "label.csv" in done.notes[0]


def test_images_in_parquet_that_no_row_names_are_imported_without_answers(read, tmp_path):
    ancientdoc.write_csv(tmp_path / "src/label.csv", ancientdoc.wide(ocr_only=True))
    rows = [{"image": ancientdoc.embedded(ancientdoc.PAGES[0])},
            {"image": {"bytes": picture(9), "path": "page_9.png"}}]  # fmt: skip
    ancientdoc.write_parquet(tmp_path / "src/train.parquet", rows)
    done = read("ancientdoc", tmp_path / "src", skip_missing="yes")
    assert [bool(item.answer) for item in done.items] == [True, False]
    assert "skipped 1 row without image" in str(done.notes)
    assert "1 image without answers" in str(done.notes)


def test_a_tree_of_images_is_imported_without_answers_where_that_is_wanted(read, tmp_path):
    ancientdoc.images(tmp_path / "src", "imgs", "imgs/imgs")
    done = read("ancientdoc", tmp_path / "src", without_answers="yes")
    assert [item.metadata["page"] for item in done.items] == list(ancientdoc.PAGES)
    assert done.items[0].group == "The Philosophy of War/兵垣四編"
    assert "2 byte-identical copies of images are not imported" in done.notes


BOOKS = [{"书名": "《兵垣四编》", "朝代": "明代", "书体": "楷書", "作者": "臧懋循"},
         {"书名": "孙子", "朝代": "春秋", "书体": "楷書", "作者": "孙武"}]  # fmt: skip


def books_as(file: Path) -> Path:
    """Write the table of books in the form that the file's name says."""
    heads = list(BOOKS[0])
    if file.suffix == ".xlsx":
        return write_workbook(file, [heads, *(list(row.values()) for row in BOOKS)])
    if file.suffix == ".parquet":
        file.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(BOOKS).write_parquet(file)
        return file
    if file.suffix == ".json":
        return put(file, json.dumps(BOOKS, ensure_ascii=False))
    ancientdoc.write_csv(file, BOOKS, "\t" if file.suffix == ".tsv" else ",")
    return file


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "xlsx", "parquet"])
def test_a_table_of_books_joins_by_title_whatever_its_form(read, tmp_path, suffix):
    src = ancientdoc.hub(tmp_path / "src")
    books = books_as(src / f"books.{suffix}")
    done = read("ancientdoc", src, books=str(books))
    assert done.items[0].metadata == {
        "page": f"{FIRST}.png", "category": "The Philosophy of War", "book": "兵垣四編",
        "dynasty": "Ming", "script": "regular", "作者": "臧懋循",
    }  # fmt: skip
    assert "the table of books has no row for 1 book: 書譜" in done.notes
    assert "1 row of the table of books without a book: 孙子" in done.notes


def test_one_book_in_two_spellings_is_named(read, tmp_path):
    src = ancientdoc.hub(tmp_path / "src")
    put(tmp_path / "books.csv", "book,dynasty\n書譜,唐\n《书谱》,唐\n")
    with pytest.raises(DataError, match=r"books\.csv: line 3: another line has this book"):
        read("ancientdoc", src, books=str(tmp_path / "books.csv"))


@pytest.mark.parametrize(
    ("simplified", "traditional", "english"),
    [
        ("传记类", "傳記類", "Biography"), ("儒家类", "儒家類", "Confucianism"),
        ("兵家类", "兵家類", "The Philosophy of War"), ("别集类", "別集類", "Collected Works"),
        ("医家类", "醫家類", "Medical Authors"),
        ("天文算法类", "天文算法類", "Astronomy and Mathematics"),
        ("小说家类", "小說家類", "Masters of Unofficial History"),
        ("总集类", "總集類", "General Anthologies"), ("杂家类", "雜家類", "Eclectics"),
        ("楚辞类", "楚辭類", "Chuci-style Poetry"), ("类书类", "類書類", "Leishu"),
        ("艺术类", "藝術類", "Art"),
        ("诗文评类", "詩文評類", "Literary Criticism of Poetry and Prose"),
        ("谱录类", "譜錄類", "Genealogies and Catalogues"),
    ],
)  # fmt: skip
def test_the_released_categories_are_the_papers(simplified, traditional, english):
    found = {canonical("category", name) for name in (simplified, traditional, english)}
    assert len(found) == 1
    assert found.pop().english == english


def test_a_tree_without_label_csv_and_a_table_without_images_are_recognised(tmp_path):
    ancientdoc.images(tmp_path / "tree", "imgs")
    tree = detect_ancientdoc(Listing(tmp_path / "tree"))
    assert "label.csv" in tree.missing
    ancientdoc.write_csv(tmp_path / "table/label.csv", ancientdoc.wide())
    alone = detect_ancientdoc(Listing(tmp_path / "table"))
    assert (alone.fit, alone.missing) == (1, "the images, imgs/CATEGORY/BOOK/page_N.png")
    assert "page_level_ocr" in alone.what


def test_other_tables_are_not_taken_for_ancientdoc(tmp_path):
    ancientdoc.write_csv(tmp_path / "a.csv", [{"image": "p.png", "task": "T1", "answer": "天"}])
    put(tmp_path / "b.json", '[{"ID": 1, "Task_ID": "T7", "Question": "?", "Answer": "A"}]')
    assert detect_ancientdoc(Listing(tmp_path)) is None
