"""Where a build's material comes from: folders of images, rows of questions, saved web pages."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.recipe import read_recipe
from keju.building.sources.main_text import extract_page_text
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


def test_a_picture_beside_a_table_that_changes_is_read_anew(tmp_path):
    rows = "\n".join(map(json.dumps, QUESTIONS[:2]))
    (tmp_path / "questions.jsonl").write_text(rows, "utf-8")
    for seed in (1, 2):
        (tmp_path / "p.png").write_bytes(picture(seed))
        (item, _), _ = built(tmp_path, ROWS)
        dataset = Dataset.open(tmp_path / "build" / "dataset")
        assert dataset.image_bytes(item.images[0]) == picture(seed)
    (tmp_path / "something else.png").write_bytes(picture(3))
    recipe = read_recipe(tmp_path / "recipe.toml")
    assert all(each.exists for each in pipeline.plan_build(recipe, tmp_path / "build"))


def test_a_sidecar_of_a_single_page_that_changes_is_read_anew(tmp_path):
    for licence in ("CC0-1.0", "CC-BY-4.0"):
        told = f'address = "https://example.org/a"\nlicence = "{licence}"'
        save(tmp_path / "saved", "a.html", sidecar=told)
        (item,), _ = built(tmp_path, WEB.replace('"saved"', '"saved/a.html"'))
        assert item.provenance[0].licence == licence


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
form = "rows"
path = "questions.jsonl"
licence = "CC-BY-4.0"
source = "an older set"
kind = "kind"
tasks = { meaning = "T5", author = "T10" }
columns = { id = "qid", question = "q", answer = "right", image = "pic", group = "book",
  licence = "lic" }
options = ["A", "B", "C"]
fields = { term = "w" }
answer_is = "from-0"
metadata = ["dyn"]
""".replace(",\n  licence", ", licence")


@pytest.fixture
def questions(tmp_path) -> Path:
    lines = [json.dumps(question, ensure_ascii=False) for question in QUESTIONS]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "p.png").write_bytes(picture(1))
    return tmp_path


def test_an_older_set_of_questions_becomes_items_of_tasks(questions):
    items, _ = built(questions, ROWS)
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


def test_rows_that_do_not_fit_are_listed_with_why(questions):
    built(questions, ROWS)
    left = {row["subject"]: row["reason"] for row in table(questions, "01-rows", "dropped")}
    assert left == {
        "record 3": "no task is declared for the kind 'riddle'",
        "record 4": "an option between others is empty",
        "record 5": "the answer '7' names none of 2 options",
        "record 6": f"no image 'no.png' in {questions}; set their directory: images = FOLDER",
        "record 7": "the id 'a' is already used at record 1",
    }


@pytest.mark.parametrize(
    ("said", "answer", "letter"),
    [
        ("letter", "b", "B"), ("from-1", "2", "B"), ("from-0", "1", "B"), ("option", "米芾", "B"),
        ("letter", "D", None), ("option", "颜真卿", None), ("from-1", "0", None),
    ],
)  # fmt: skip
def test_the_right_option_may_be_said_in_four_ways(tmp_path, said, answer, letter):
    (tmp_path / "q.csv").write_text(f"q,a,x,y\n作者是谁？,{answer},王羲之,米芾\n", "utf-8")
    source = f"""
form = "rows"
path = "q.csv"
licence = "CC0-1.0"
source = "s"
task = "T10"
columns = {{ question = "q", answer = "a" }}
options = ["x", "y"]
answer_is = "{said}"
"""
    if letter is None:
        with pytest.raises(KejuError, match="no row could be converted"):
            built(tmp_path, source)
    else:
        (item,), _ = built(tmp_path, source)
        assert (item.id, item.answer) == ("q-000001", letter)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "kind"', 'task = "T5"\nkind = "kind"', "either task, or kind"),
        ('question = "q"', 'question = "qq"', "no column 'qq'. Did you mean 'q'?"),
        ('answer_is = "from-0"', "", "options requires answer_is"),
        ('answer_is = "from-0"', 'answer_is = "leter"', "no value 'leter'. Did you mean 'letter'?"),
        ('meaning = "T5"', 'meaning = "T99"', "T99"),
        ('licence = "CC-BY-4.0"\n', "", "it needs licence = … (Licence under which"),
        ('question = "q"', 'qestion = "q"', "columns: no key 'qestion'. Did you mean 'question'"),
    ],
)
def test_a_mapping_that_is_wrong_is_one_line(questions, old, new, said):
    with pytest.raises(KejuError) as error:
        built(questions, ROWS.replace(old, new, 1))
    assert said in str(error.value)


def test_a_mapping_is_checked_whole_and_before_anything_is_copied(questions):
    source = ROWS.replace('"A", "B"', '"AA", "BB"').replace('fields = { term = "w" }', "")
    (questions / "recipe.toml").write_text(f'name = "t"\n[[source]]\n{source}', "utf-8")
    with pytest.raises(ProblemsError) as error:
        read_recipe(questions / "recipe.toml")
    place = f"{questions / 'recipe.toml'}: source 1 (rows): "
    blank, *columns = str(error.value).splitlines()
    want = 'no column fills the blank {term} of task T5. Set fields = { term = "COLUMN" }'
    assert blank == place + want
    assert [line.split(". ")[0].rpartition(": ")[2] for line in columns] == [
        "no column 'AA'", "no column 'BB'",
    ]  # fmt: skip


def test_a_table_may_be_parted_as_spreadsheets_part_it(tmp_path):
    rows = [
        ("q", "a", "x", "y"),
        ("作者,是谁？", "A", "王羲之", "米芾；"),
        ("谁？", "B", "甲;", "乙"),
    ]
    with (tmp_path / "q.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    items, record = built(tmp_path, ONE_TABLE)
    assert [(item.question, item.options) for item in items] == [
        ("作者,是谁？", ("王羲之", "米芾；")), ("谁？", ("甲;", "乙")),
    ]  # fmt: skip
    assert record.sources[0].notes == [
        "2 items have neither an image nor a transcription and cannot be sent to a model. "
        "Name their column in columns.image or columns.transcription"
    ]


def test_a_table_in_another_encoding_is_read_and_reported(tmp_path):
    text = "q,a,x,y\n作者是谁？,A,王羲之,米芾\n"
    (tmp_path / "q.csv").write_bytes(text.encode("gb18030"))
    (item,), record = built(tmp_path, ONE_TABLE)
    assert item.options == ("王羲之", "米芾")
    assert f"read as GB18030: {tmp_path / 'q.csv'}" in record.sources[0].notes


VERBATIM = """
form = "rows"
path = "q.json"
licence = "CC0-1.0"
source = "s"
verbatim = true
"""


@pytest.mark.parametrize(
    ("row", "keys", "question", "options", "answer"),
    [
        ({"q": "译成白话：學而。", "a": "学习。"}, 'task = "T2"', "译成白话：學而。", (), "学习。"),
        (
            {"q": "谁？\nA、王羲之 B、米芾\n只答字母。", "a": "b"},
            'task = "T10"',
            "谁？\nA、王羲之 B、米芾\n只答字母。",
            ("王羲之", "米芾"),
            "B",
        ),
        (
            {"q": "谁？", "a": "米芾", "o": ["王羲之", "米芾"]},
            'task = "T10"\noptions = ["o"]\nanswer_is = "option"',
            None,
            ("王羲之", "米芾"),
            "B",
        ),
    ],
)
def test_questions_are_taken_word_for_word(tmp_path, row, keys, question, options, answer):
    (tmp_path / "q.json").write_text(json.dumps([row]), "utf-8")
    source = f'{VERBATIM}\n{keys}\ncolumns = {{ question = "q", answer = "a" }}'
    (item,), _ = built(tmp_path, source)
    assert (item.verbatim, item.options, item.answer) == (True, options, answer)
    if question is None:
        assert item.question.startswith("谁？\nA、王羲之 B、米芾\n")
    else:
        assert item.question == question


def test_a_verbatim_question_needs_its_column_and_its_text(tmp_path):
    (tmp_path / "q.json").write_text('[{"q": " ", "a": "x"}]', "utf-8")
    with pytest.raises(KejuError, match="verbatim requires columns"):
        built(tmp_path, VERBATIM + 'task = "T2"\ncolumns = { answer = "a" }')
    with pytest.raises(KejuError, match="the question is empty"):
        built(tmp_path, VERBATIM + 'task = "T2"\ncolumns = { question = "q", answer = "a" }')


ONE_TABLE = """
form = "rows"
path = "q.csv"
licence = "CC0-1.0"
source = "s"
task = "T10"
columns = { question = "q", answer = "a" }
options = ["x", "y"]
answer_is = "letter"
"""

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

WEB = """
form = "web"
path = "saved"
source = "an encyclopedia"
task = "T2"
"""


def save(folder: Path, name: str, charset: str = "utf-8", sidecar: str | None = None) -> None:
    folder.mkdir(exist_ok=True)
    codec = {"gb2312": "gb18030"}.get(charset, charset)
    (folder / name).write_bytes(PAGE.format(charset=charset).encode(codec))
    if sidecar is not None:
        (folder / f"{name}.toml").write_text(sidecar, "utf-8")


def test_the_main_text_is_taken_and_the_rest_left(tmp_path):
    saved = tmp_path / "saved"
    save(saved, "a.html", sidecar='address = "https://example.org/a"\nlicence = "CC-BY-SA-4.0"')
    (item,), _ = built(tmp_path, WEB)
    assert item.transcription == "\n".join(
        ["滕王閣", TEXT, "王勃作序，王勃時年二十六。", "第一次重修", "第二次重修"]
    )
    assert item.draft
    assert item.metadata == {"title": "滕王閣 — 百科", "address": "https://example.org/a"}
    (whence,) = item.provenance
    assert (whence.source, whence.licence) == ("https://example.org/a", "CC-BY-SA-4.0")


@pytest.mark.parametrize("charset", ["utf-8", "gb2312", "big5", "utf-16"])
def test_pages_are_read_in_the_encoding_that_they_name(charset):
    data = PAGE.format(charset=charset).encode({"gb2312": "gb18030"}.get(charset, charset))
    assert TEXT in extract_page_text(data, name="x").text


@pytest.mark.parametrize("charset", ["undefined", "raw_unicode_escape", "none"])
def test_an_encoding_that_gives_no_text_is_refused(charset):
    data = PAGE.format(charset=charset).encode() + b"\\ud800"
    with pytest.raises(KejuError, match=f"not in its declared encoding, {charset}"):
        extract_page_text(data, name="x")


def test_fonts_that_are_never_closed_cut_no_text_off():
    opened = "<font size=2>" * 1000
    assert TEXT in extract_page_text(f"{opened}<p>{TEXT}</p>".encode(), name="x").text
    with pytest.raises(KejuError, match="nested too deep"):
        extract_page_text(f"{opened * 100}<p>{TEXT}</p>".encode(), name="x")


def test_pages_without_licence_or_address_or_text_are_refused_by_name(tmp_path):
    saved = tmp_path / "saved"
    save(saved, "a.html", sidecar='address = "https://example.org/a"\nlicence = "CC0-1.0"')
    save(saved, "b.html", sidecar='address = "https://example.org/b"')
    save(saved, "c.html", sidecar='licence = "CC0-1.0"')
    save(saved, "d.html", sidecar='adress = "x"')
    (saved / "e.html").write_bytes(b"")
    (saved / "e.html.toml").write_text('address = "https://e"\nlicence = "CC0-1.0"')
    (saved / "f.html").write_bytes(b"<meta charset=utf-8><p>" + b"\xff\xfe\xfd")
    (saved / "f.html.toml").write_text('address = "https://f"\nlicence = "CC0-1.0"')
    items, _ = built(tmp_path, WEB)
    assert [item.id for item in items] == ["a"]
    refused = {row["subject"]: row["reason"] for row in table(tmp_path, "01-web", "dropped")}
    assert refused["b.html"].startswith("no licence is given")
    assert refused["c.html"].startswith("no address")
    assert "Did you mean 'address'?" in refused["d.html"]
    assert refused["e.html"] == "the page is empty"
    assert refused["f.html"] == "not in its declared encoding, utf-8"


def test_pages_of_one_name_and_different_endings_are_different_items(tmp_path):
    for name in ("a.html", "a.htm", "a.htm.html", "b.html", "深/a.html"):
        (tmp_path / "saved" / name).parent.mkdir(parents=True, exist_ok=True)
        save(tmp_path / "saved", name)
    source = WEB + 'licence = "CC0-1.0"\naddress = "https://example.org/"'
    items, _ = built(tmp_path, source)
    addresses = {item.id: item.provenance[0].source for item in items}
    assert addresses == {
        name: f"https://example.org/{file}"
        for name, file in (("a.htm", "a.htm"), ("a.html", "a.html"), ("a.htm.html", "a.htm.html"),
                           ("b", "b.html"), ("深/a", "深/a.html"))
    }  # fmt: skip
    assert {item.provenance[0].licence for item in items} == {"CC0-1.0"}


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
    for line, fault in zip(error.value.lines, ("'task'", "dpi=0", "texts=maybe"), strict=True):
        assert "source 1" in line
        assert fault in line
