"""Where a build's material comes from: folders of images, tables, saved web pages."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.recipe import read_recipe
from keju.datasets.readers.saved_pages import extract_page_text, read_saved
from keju.datasets.store import Dataset
from keju.errors import KejuError, ProblemsError
from keju.items import Item
from tests.support.making import picture


def built(folder: Path, source: str) -> tuple[list[Item], pipeline.BuildRecord]:
    """The items of a recipe with one source."""
    recipe = folder / "recipe.toml"
    recipe.write_text(f'name = "trial"\n[[source]]\n{source}', "utf-8")
    record = pipeline.build(read_recipe(recipe), folder / "build", engine=Engine())
    return Dataset.open(folder / "build" / "dataset").items(), record


def table(folder: Path, number: str, name: str) -> list[dict[str, str]]:
    file = folder / "build" / "sources" / number / "tables" / f"{name}.csv"
    return list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))


IMAGES = """
form = "images"
path = "scans"
licence = "CC-BY-4.0"
source = "our library"
"""


def test_a_folder_of_images_becomes_drafts_and_the_broken_are_listed(tmp_path):
    scans = tmp_path / "scans"
    (scans / "book1").mkdir(parents=True)
    (scans / "book1" / "p1.png").write_bytes(picture(1))
    (scans / "book1" / "p1.jpg").write_bytes(picture(1, form="JPEG"))
    (scans / "book1" / "p2.png").write_bytes(picture(2)[:300])
    (scans / "p3.png").write_bytes(b"")
    (scans / "p4.jpg").write_bytes(b"<!doctype html><p>404")
    items, record = built(tmp_path, IMAGES)
    assert [item.id for item in items] == ["book1/p1", "book1/p1.png"]
    assert all(item.draft and not item.answer and item.group == "book1" for item in items)
    assert items[0].images[0].path.endswith(".jpg")
    assert (items[0].provenance[0].step, items[0].provenance[0].licence) == ("images", "CC-BY-4.0")
    refused = {row["subject"]: row["reason"] for row in table(tmp_path, "01-images", "dropped")}
    assert set(refused) == {"book1/p2.png", "p3.png", "p4.jpg"}
    assert "the file is empty" in refused["p3.png"]
    assert "a web page" in refused["p4.jpg"]
    assert "3 files are not valid images" in record.sources[0].notes[0]


def test_the_source_s_files_are_copied_and_not_shared(tmp_path):
    (tmp_path / "scans").mkdir()
    scan = tmp_path / "scans" / "p.png"
    scan.write_bytes(picture(1))
    (item,), _ = built(tmp_path, IMAGES)
    with scan.open("r+b") as stream:
        stream.write(b"overwritten in place")
    assert Dataset.open(tmp_path / "build" / "dataset").image_bytes(item.images[0]) == picture(1)


def test_a_picture_or_a_mapping_that_changes_is_read_anew(questions):
    write_questions(questions, QUESTIONS[:2])
    for seed in (1, 2):
        (questions / "set" / "p.png").write_bytes(picture(seed))
        (item, _), _ = built(questions, ROWS)
        dataset = Dataset.open(questions / "build" / "dataset")
        assert dataset.image_bytes(item.images[0]) == picture(seed)
    mapping = questions / "mapping.toml"
    mapping.write_text(
        mapping.read_text("utf-8").replace('dyn = "dyn"', 'dynasty = "dyn"'), "utf-8"
    )
    items, _ = built(questions, ROWS)
    assert items[0].metadata == {"dynasty": "春秋"}
    recipe = read_recipe(questions / "recipe.toml")
    assert all(each.exists for each in pipeline.plan_build(recipe, questions / "build"))


def test_a_name_that_is_no_utf_8_is_named(tmp_path):
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / os.fsdecode("書.png".encode("gb18030"))).write_bytes(picture(1))
    with pytest.raises(KejuError, match=r"the name .* is not UTF-8"):
        built(tmp_path, IMAGES)


def test_a_build_inside_its_own_source_is_refused(tmp_path):
    (tmp_path / "p.png").write_bytes(picture(1))
    with pytest.raises(
        KejuError, match=r"source 1 \(images\): path: the build in .* would be inside"
    ):
        built(tmp_path, IMAGES.replace('"scans"', '"."'))
    assert not (tmp_path / "build").exists()


def test_a_path_that_no_disk_takes_is_not_there(tmp_path):
    with pytest.raises(KejuError, match="no such file or folder"):
        built(tmp_path, IMAGES.replace("scans", "s" * 5000))


@pytest.mark.parametrize("made", ["empty", "broken"])
def test_a_folder_without_a_sound_image_is_an_error(tmp_path, made):
    (tmp_path / "scans").mkdir()
    if made == "broken":
        (tmp_path / "scans" / "p.png").write_bytes(b"x")
    with pytest.raises(KejuError, match=r"folder of images|no file is a valid"):
        built(tmp_path, IMAGES)


QUESTIONS = [
    {"qid": "a", "kind": "meaning", "q": "“愠”的意思是？", "w": "愠", "A": "羞愧", "B": "怨怒",
     "C": "疑惑", "right": 1, "pic": "p.png", "book": "論語", "dyn": "春秋"},
    {"qid": "b", "kind": "author", "q": "作者是谁？", "A": "王羲之", "B": "米芾", "C": "",
     "right": 0, "pic": "p.png", "lic": "CC0-1.0"},
    {"qid": "c", "kind": "riddle", "q": "?", "A": "x", "B": "y", "right": 0, "pic": "p.png"},
    {"qid": "d", "kind": "author", "q": "谁？", "A": "甲", "B": "", "C": "丙", "right": 0,
     "pic": "p.png"},
    {"qid": "e", "kind": "author", "q": "谁？", "A": "甲", "B": "乙", "right": 7, "pic": "p.png"},
    {"qid": "f", "kind": "author", "q": "谁？", "A": "甲", "B": "乙", "right": 1, "pic": "no.png"},
    {"qid": "a", "kind": "author", "q": "谁？", "A": "甲", "B": "乙", "right": 1, "pic": "p.png"},
]  # fmt: skip

ROWS = """
form = "mapped"
path = "set"
map = "mapping.toml"
licence = "CC-BY-4.0"
source = "an older set"
options = { skip-invalid = true }
"""

MAPPING = """
answer_is = "from-0"
prompt = "template"
drafts = true
tables = [{ path = "questions.jsonl" }]
[fields]
id = "qid"
task = "kind"
question = "q"
answer = "right"
image = "pic"
group = "book"
licence = "lic"
options = ["A", "B", "C"]
[blanks]
term = "w"
[metadata]
dyn = "dyn"
[values.task]
meaning = "T5"
author = "T10"
"""


def write_questions(folder: Path, questions: list[dict[str, object]]) -> None:
    lines = [json.dumps(question, ensure_ascii=False) for question in questions]
    (folder / "set" / "questions.jsonl").write_text("\n".join(lines), "utf-8")


@pytest.fixture
def questions(tmp_path) -> Path:
    (tmp_path / "set").mkdir()
    write_questions(tmp_path, QUESTIONS)
    (tmp_path / "set" / "p.png").write_bytes(picture(1))
    (tmp_path / "mapping.toml").write_text(MAPPING, "utf-8")
    return tmp_path


def test_an_older_set_of_questions_becomes_items_of_tasks(questions):
    items, record = built(questions, ROWS)
    assert [(item.id, item.task, item.answer) for item in items] == [
        ("a", "T5", "B"), ("b", "T10", "A"),
    ]  # fmt: skip
    meaning, author = items
    assert meaning.options == ("羞愧", "怨怒", "疑惑")
    assert (meaning.group, meaning.metadata) == ("論語", {"dyn": "春秋"})
    assert meaning.fields == {"term": "愠"}
    assert author.options == ("王羲之", "米芾")
    assert author.provenance[0].licence == "CC0-1.0", "a row's own licence"
    assert meaning.provenance[0].licence == "CC-BY-4.0"
    assert any(note.startswith("5 records dropped") for note in record.sources[0].notes)


def test_records_that_are_not_valid_are_listed_with_why(questions):
    built(questions, ROWS)
    left = {row["subject"]: row["reason"] for row in table(questions, "01-mapped", "dropped")}
    assert set(left) == {f"record {number}" for number in (3, 4, 5, 6, 7)}
    assert left["record 3"].startswith("no task has the name 'riddle'")
    assert left["record 4"] == "an option between others is empty"
    assert left["record 5"].startswith("the answer '7' is not the number of an option")
    assert left["record 6"] == "the file 'no.png' is missing"
    assert left["record 7"].startswith("the id 'a' is also that of record 1")


def test_a_set_without_a_valid_record_is_an_error(questions):
    write_questions(questions, [each | {"kind": "riddle"} for each in QUESTIONS[:2]])
    with pytest.raises(KejuError, match=r"no record is valid\. The first error: no task has"):
        built(questions, ROWS)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('answer_is = "from-0"', 'answer_is = "from-2"', "answer_is: Invalid enum value 'from-2'"),
        ('group = "book"', 'groop = "book"', "no key 'groop'. Did you mean 'group'?"),
        ('task = "kind"', 'task = "TODO"', "fields.task: this value of the draft is still TODO"),
    ],
)
def test_a_mapping_that_is_wrong_is_refused_before_anything_is_read(questions, old, new, said):
    assert old in MAPPING
    (questions / "mapping.toml").write_text(MAPPING.replace(old, new, 1), "utf-8")
    (questions / "recipe.toml").write_text(f'name = "t"\n[[source]]\n{ROWS}', "utf-8")
    with pytest.raises(KejuError) as error:
        read_recipe(questions / "recipe.toml")
    assert said in str(error.value)


def test_a_page_that_is_missing_is_named(questions):
    write_questions(
        questions, [each | {"lic": "CC0-1.0", "page": "a.html"} for each in QUESTIONS[:1]]
    )
    mapping = questions / "mapping.toml"
    text = MAPPING.replace('id = "qid"', 'id = "qid"\npage = "page"')
    mapping.write_text(text, "utf-8")
    with pytest.raises(KejuError, match=r"record 1: no web page 'a\.html'"):
        built(questions, ROWS.replace("skip-invalid", "skip-missing"))


def test_an_item_without_an_answer_is_a_draft_with_what_is_known_of_its_image(tmp_path):
    folder = tmp_path / "set"
    save(folder / "pages", "a.html", sidecar=SIDECAR.format("a"))
    save(folder / "pages", "b.html", sidecar=SIDECAR.format("b"))
    (folder / "p.png").write_bytes(picture(1))
    heads = "id,image,page,words,said\n"
    lines = 'x,p.png,a.html|b.html,"[""山"", ""水""]",遠山\n' + "y,,a.html,,\n"
    (folder / "list.csv").write_text(heads + lines, "utf-8")
    (tmp_path / "mapping.toml").write_text(
        """
        drafts = true
        tables = [{ path = "list.csv" }]
        [fields]
        id = "id"
        image = "image"
        page = "page"
        keywords = "words"
        description = "said"
        [constants]
        task = "T2"
        """,
        "utf-8",
    )
    (shown, text), _ = built(tmp_path, ROWS)
    assert shown.draft
    assert text.draft
    assert (shown.metadata["keywords"], shown.metadata["description"]) == ("山、水", "遠山")
    assert shown.metadata["notes"].count(TEXT) == 2
    assert [(step.step, step.source) for step in shown.provenance] == [
        ("mapped", "an older set"),
        ("web", "https://example.org/a"),
        ("web", "https://example.org/b"),
    ]
    assert TEXT in text.transcription
    assert text.metadata == {}


SIDECAR = 'address = "https://example.org/{}"\nlicence = "CC-BY-SA-4.0"'

TEXT = "滕王閣在南昌，唐永徽四年滕王李元嬰所建，後屢毀屢修，凡二十餘次。" * 3
PAGE = f"""<!DOCTYPE html><html><head><title>滕王閣 — 百科</title><meta charset="{{charset}}">
<style>p {{{{}}}}</style></head><body>
<nav><ul><li><a href="/">首頁</a></li>
<li><a href="/all">所有條目，所有條目，所有條目</a></li></ul></nav>
<div id="content"><h1>滕王閣</h1><p>{TEXT}</p><script>var x = "腳本";</script>
<p>王勃作序，<a href="/w">王勃</a>時年
二十六。</p><ul><li>第一次重修</li><li>第二次重修</li></ul></div>
<div class="links"><p><a href="/a">相關條目一</a></p><p><a href="/b">相關條目二</a></p></div>
<footer><p>版權所有，轉載請註明出處，轉載請註明出處，轉載請註明出處。</p></footer></body></html>"""


def save(folder: Path, name: str, charset: str = "utf-8", sidecar: str | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    codec = {"gb2312": "gb18030"}.get(charset, charset)
    (folder / name).write_bytes(PAGE.format(charset=charset).encode(codec))
    if sidecar is not None:
        (folder / f"{name}.toml").write_text(sidecar, "utf-8")


@pytest.mark.parametrize("charset", ["utf-8", "gb2312", "big5", "utf-16"])
def test_the_main_text_is_taken_in_the_encoding_that_the_page_names(charset):
    data = PAGE.format(charset=charset).encode({"gb2312": "gb18030"}.get(charset, charset))
    assert extract_page_text(data, Path("x")).split("\n") == [
        "滕王閣", TEXT, "王勃作序，王勃時年二十六。", "第一次重修", "第二次重修"
    ]  # fmt: skip


@pytest.mark.parametrize("charset", ["undefined", "raw_unicode_escape", "none"])
def test_an_encoding_that_gives_no_text_is_refused(charset):
    data = PAGE.format(charset=charset).encode() + b"\\ud800"
    with pytest.raises(KejuError, match=f"not in its declared encoding, {charset}"):
        extract_page_text(data, Path("x"))


@pytest.mark.parametrize("data", [b"", b"<p> </p>", b"<nav>a</nav>"])
def test_a_page_without_text_is_refused(data):
    with pytest.raises(KejuError, match="the page is empty"):
        extract_page_text(data, Path("x"))


def test_fonts_that_are_never_closed_cut_no_text_off():
    opened = "<font size=2>" * 1000
    assert TEXT in extract_page_text(f"{opened}<p>{TEXT}</p>".encode(), Path("x"))
    with pytest.raises(KejuError, match="nested too deep"):
        extract_page_text(f"{opened * 100}<p>{TEXT}</p>".encode(), Path("x"))


@pytest.mark.parametrize(
    ("sidecar", "problem"),
    [
        ('licence = "CC0-1.0"', "the web page has no address"),
        ('address = "https://e"', "the web page has no licence"),
        ('adress = "x"', "Did you mean 'address'"),
    ],
)
def test_a_page_without_licence_or_address_is_refused(tmp_path, sidecar, problem):
    save(tmp_path, "a.html", sidecar=sidecar)
    with pytest.raises(KejuError, match=problem):
        read_saved(tmp_path / "a.html", licence="", address="")
    if "licence" in problem:
        page = read_saved(tmp_path / "a.html", licence="CC0-1.0", address="")
        assert (page.provenance.source, page.provenance.licence) == ("https://e", "CC0-1.0")


def test_formats_of_data_import_are_sources(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "p.png").write_bytes(picture(1))
    (tmp_path / "pages" / "p.txt").write_text("天地玄黃", "utf-8")
    source = 'form = "pages"\npath = "pages"\nlicence = "CC0-1.0"\nsource = "s"\n'
    (item,), _ = built(tmp_path, source + 'options = { task = "T1", skip-missing = true }')
    assert (item.task, item.answer, item.draft) == ("T1", "天地玄黃", False)
    with pytest.raises(ProblemsError) as error:
        built(tmp_path, source + 'options = { tusk = "T1", dpi = 0, texts = "maybe" }')
    assert len(error.value.lines) == 3
    faults = (
        "'task'",
        "texts: expected true or false, got 'maybe'",
        "dpi: expected a whole number >= 1, got '0'",
    )
    for line, fault in zip(error.value.lines, faults, strict=True):
        assert "source 1" in line
        assert fault in line
