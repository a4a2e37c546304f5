"""FORMAT mapped: sources that no other reader knows, by a mapping file that keju drafts."""

from __future__ import annotations

import contextlib
import json
import tomllib

import polars as pl
import pytest
from typer.testing import CliRunner

from keju.cli import app
from keju.datasets.examine import examine, write_mapping
from keju.datasets.readers import import_dataset
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.mapped.draft import draft_mapping, path_pattern
from keju.datasets.readers.mapped.mapping import read_mapping
from keju.datasets.readers.mapped.records import named_groups
from keju.datasets.store import Dataset
from keju.definitions import prompt_of
from keju.errors import DataError, KejuError, UsageError
from tests.support.damage import DAMAGES
from tests.support.released import picture, put, table

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}


def items_of(tmp_path, src, mapping, **options):
    """The items, by id, that a mapping gives."""
    file = put(tmp_path / "mapping.toml", mapping)
    out = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
    import_dataset("auto", src, out, **ABOUT, options={"map": str(file), **options})
    return {item.id: item for item in Dataset.open(out).items()}


def edited(src, *edits):
    """The draft of a source, each old text in it replaced by a new one."""
    text = draft_mapping(Listing(src))
    for old, new in edits:
        assert old in text, text
        text = text.replace(old, new)
    return text


# ---- odd layouts, each imported by its draft after a few edits


def test_a_chinese_table_with_images_by_number(tmp_path):
    src = tmp_path / "src"
    heads = ("题目编号", "题型", "题干", "A", "B", "C", "正确答案", "朝代")
    table(src / "试题/第一批.csv", heads,
          ("7", "单选", "出自哪部书？", "說苑", "論語", "孟子", "論語", "唐"),
          ("9", "识字", "读出文字。", "", "", "", "天地", "宋"))  # fmt: skip
    put(src / "扫描/7.png", picture(7))
    put(src / "扫描/9.png", picture(9))
    found = items_of(tmp_path, src, edited(
        src,
        ('# id = "COLUMN"', 'id = "题目编号"'),
        ('"单选" = "TODO"', '"单选" = "T7"'),
        ('"识字" = "TODO"', '"识字" = "T1"'),
    ))  # fmt: skip
    assert set(found) == {"7", "9"}
    first = found["7"]
    assert (first.task, first.options, first.answer) == ("T7", ("說苑", "論語", "孟子"), "B")
    assert prompt_of(first).startswith("出自哪部书？\nA、說苑 B、論語 C、孟子")
    assert first.metadata == {"朝代": "唐"}
    assert found["9"].task == "T1"
    assert found["9"].transcription == "天地"
    assert found["9"].metadata == {"朝代": "宋"}
    assert first.images != found["9"].images


def test_images_whose_names_have_the_answer(tmp_path):
    src = tmp_path / "src"
    for book, char, number in (("甲", "王", "001"), ("甲", "雨", "002"), ("乙", "子", "001")):
        put(src / f"{book}/{char}_{number}.png", picture(ord(char)))
    found = items_of(tmp_path, src, edited(
        src,
        ('# answer = "COLUMN"', 'answer = "part1"'),
        ("TODO", "T1"),
        ('# question = "…"', 'question = "这是什么字？"'),
    ))  # fmt: skip
    assert set(found) == {"甲/王_001", "甲/雨_002", "乙/子_001"}
    item = found["甲/王_001"]
    assert (item.answer, item.group, item.question) == ("王", "甲", "这是什么字？")
    assert prompt_of(item) == "这是什么字？"
    assert item.metadata == {"number1": "001"}


def test_lines_with_sidecar_texts(tmp_path):
    src = tmp_path / "src"
    for name, text in (("line_01", "天地玄黃"), ("line_02", "宇宙洪荒")):
        put(src / f"{name}.png", picture(int(name[-1])))
        put(src / f"{name}.gt.txt", text + "\n")
    found = items_of(tmp_path, src, edited(src, ("TODO", "page_level_ocr")))
    assert {name: item.answer for name, item in found.items()} == {
        "line_01": "天地玄黃", "line_02": "宇宙洪荒",
    }  # fmt: skip


def test_one_json_file_for_each_image(tmp_path):
    src = tmp_path / "src"
    for number in (1, 2):
        record = {"meta": {"book": "論語", "page": number}, "text": f"第{number}頁", "noise": [1]}
        put(src / f"data/p{number}.json", json.dumps(record, ensure_ascii=False))
        put(src / f"data/p{number}.jpg", picture(number, form="JPEG"))
    found = items_of(tmp_path, src, edited(
        src,
        ('tables = "data/p1.json"', 'tables = "*.json"\njson = "one"'),
        ('# image_path = "images/{COLUMN}.*"', 'image_path = "{folder}/{stem}.*"'),
        ("TODO", "page_level_ocr"),
    ))  # fmt: skip
    assert [item.answer for item in found.values()] == ["第1頁", "第2頁"]
    assert found["p1-000001"].group == "論語"
    assert found["p2-000002"].metadata == {"meta.page": "2"}


def test_questions_in_a_list_inside_each_record(tmp_path):
    src = tmp_path / "src"
    pages = [
        {"file_name": "p1.png", "qa": [{"q": "何人？", "a": "孔子"}, {"q": "何书？", "a": "論語"}]},
        {"file_name": "p2.png", "qa": [{"q": "何地？", "a": "魯"}]},
    ]
    put(src / "train.json", json.dumps({"pages": pages}, ensure_ascii=False))
    for number in (1, 2):
        put(src / f"scans/p{number}.png", picture(number))
    found = items_of(tmp_path, src, edited(
        src,
        ('# each = "qa"', 'each = "qa"'),
        ('# question = "COLUMN"', 'question = "qa.q"'),
        ('# answer = "COLUMN"', 'answer = "qa.a"'),
        ("[fields]", 'images = "scans"\n\n[fields]'),
        ("TODO", "knowledge_qa"),
    ))  # fmt: skip
    assert [(item.question, item.answer) for item in found.values()] == [
        ("何人？", "孔子"), ("何书？", "論語"), ("何地？", "魯"),
    ]  # fmt: skip
    assert len({item.images for item in found.values()}) == 2


def test_an_object_whose_keys_are_images(tmp_path):
    src = tmp_path / "src"
    put(src / "gt.json", json.dumps({"a": "天地", "b": "玄黃"}))
    for name in "ab":
        put(src / f"scans/{name}.png", picture(ord(name)))
    found = items_of(tmp_path, src, edited(src, ("TODO", "page_level_ocr")))
    assert {name: item.answer for name, item in found.items()} == {"a": "天地", "b": "玄黃"}


def test_json_lines_without_the_suffix_of_json_lines(tmp_path):
    src = tmp_path / "src"
    records = [{"scan": "1.png", "text": "天地"}, {"scan": "2.png", "text": "玄黃"}]
    put(src / "gt.json", "\n".join(json.dumps(record) for record in records))
    for number in (1, 2):
        put(src / f"{number}.png", picture(number))
    mapping = """
        source.tables = "gt.json"
        fields = { image = "scan", answer = "text" }
        constants.task = "page_level_ocr"
        """
    assert [item.answer for item in items_of(tmp_path, src, mapping).values()] == ["天地", "玄黃"]


def test_a_parquet_file_with_images_in_it(tmp_path):
    src = tmp_path / "src"
    src.mkdir()
    rows = [{"image": {"bytes": picture(n), "path": "x.png"}, "gt": f"字{n}"} for n in range(3)]
    pl.DataFrame(rows).write_parquet(src / "test.parquet")
    found = items_of(tmp_path, src, edited(src, ("TODO", "page_level_ocr")))
    assert [item.answer for item in found.values()] == ["字0", "字1", "字2"]
    assert all(item.images[0].width == 40 for item in found.values())


# ---- what the keys do


HEADS = ("n", "ask", "opts", "right", "img")


@pytest.fixture
def quiz(tmp_path):
    src = tmp_path / "src"
    table(src / "q.csv", HEADS, ("1", "何书？", "說苑|論語", "1", "a.png"))
    put(src / "a.png", picture(1))
    return src


QUIZ = """
answer_is = "from-0"
[source]
tables = "q.csv"
[fields]
id = "n"
question = "ask"
options = "opts"
answer = "right"
image = "img"
[constants]
task = "T7"
group = "試卷"
[constant_metadata]
exam = "2026"
"""


def test_numbers_of_options_become_letters(tmp_path, quiz):
    item = items_of(tmp_path, quiz, QUIZ)["1"]
    assert (item.answer, item.options, item.group) == ("B", ("說苑", "論語"), "試卷")
    assert item.metadata == {"exam": "2026"}
    one = items_of(tmp_path, quiz, QUIZ.replace("from-0", "from-1"))["1"]
    assert one.answer == "A"
    table(quiz / "q.csv", HEADS, ("1", "何", "甲|乙", "2", "a.png"))
    with pytest.raises(DataError, match="not the number of an option"):
        items_of(tmp_path, quiz, QUIZ)


def test_an_answer_becomes_a_letter_or_is_refused(tmp_path, quiz):
    mapping = QUIZ.replace('answer_is = "from-0"\n', "")
    table(quiz / "q.csv", HEADS, ("1", "何", "說苑|論語", "B 论语", "a.png"))
    assert items_of(tmp_path, quiz, mapping)["1"].answer == "B"
    table(quiz / "q.csv", HEADS, ("1", "何", "說苑|論語", "B. 說苑", "a.png"))
    with pytest.raises(DataError, match=r"q\.csv.*is not one of the options A to B"):
        items_of(tmp_path, quiz, mapping)


def test_the_template_of_the_task_is_used_where_the_mapping_says_so(tmp_path, quiz):
    verbatim = items_of(tmp_path, quiz, QUIZ)["1"]
    template = items_of(tmp_path, quiz, 'prompt = "template"\n' + QUIZ)["1"]
    assert verbatim.verbatim
    assert not template.verbatim
    assert template.question == "何书？"
    assert "A、說苑 B、論語" in prompt_of(template)


def test_columns_without_a_role_become_metadata_or_not(tmp_path, quiz):
    less = QUIZ.replace('id = "n"\n', "")
    assert items_of(tmp_path, quiz, less)["q-000001"].metadata == {"exam": "2026", "n": "1"}
    ignored = items_of(tmp_path, quiz, 'rest = "ignored"\n' + less)
    assert ignored["q-000001"].metadata == {"exam": "2026"}
    renamed = less + '[metadata]\nnumber = "n"\n[values.number]\n"1" = "first"\n'
    assert items_of(tmp_path, quiz, renamed)["q-000001"].metadata == {
        "exam": "2026", "number": "first",
    }  # fmt: skip


def test_the_name_of_the_table_gives_columns(tmp_path, quiz):
    (quiz / "q.csv").rename(quiz / "T7_easy.csv")
    text = QUIZ.replace(
        '"q.csv"', "\"*.csv\"\ntable_names = '(?P<kind>T[0-9]+)_(?P<level>.*)[.]csv'"
    )
    text = text.replace('task = "T7"\n', "").replace("[fields]", '[fields]\ntask = "kind"')
    item = items_of(tmp_path, quiz, text)["1"]
    assert item.task == "T7"
    assert item.metadata == {"exam": "2026", "level": "easy"}


def test_a_missing_image_is_an_error_or_a_note(tmp_path, quiz):
    table(quiz / "q.csv", HEADS,
          ("1", "何书？", "甲|乙", "1", "a.png"),
          ("2", "何书？", "甲|乙", "1", "b.png"))  # fmt: skip
    with pytest.raises(DataError, match=r"1 file is missing: b\.png \(of line 3\)"):
        items_of(tmp_path, quiz, QUIZ)
    assert set(items_of(tmp_path, quiz, QUIZ, **{"skip-missing": "yes"})) == {"1"}


@pytest.mark.parametrize("name", ["../secret.png", "/etc/passwd", "a/../../secret.png"])
def test_names_in_the_data_stay_inside_the_source(tmp_path, quiz, name):
    put(tmp_path / "secret.png", picture(3))
    table(quiz / "q.csv", HEADS, ("1", "何", "甲|乙", "1", name))
    with pytest.raises(DataError, match="must be inside"):
        items_of(tmp_path, quiz, QUIZ)
    pattern = QUIZ.replace('tables = "q.csv"', 'tables = "q.csv"\nimage_path = "{img}"')
    with pytest.raises(DataError, match="must be inside"):
        items_of(tmp_path, quiz, pattern)
    texts = QUIZ.replace('tables = "q.csv"', 'tables = "q.csv"\ntexts = "{img}"')
    table(quiz / "q.csv", HEADS, ("1", "何", "甲|乙", "1", name))
    with pytest.raises(DataError, match="must be inside"):
        items_of(tmp_path, quiz, texts.replace('image = "img"\n', 'image = "n"\n'))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_no_damage_of_a_source_gives_another_error_than_one_of_keju(tmp_path, quiz, damage):
    put(quiz / "more.json", json.dumps([{"ID": 1, "Question": "问", "Answer": "答"}]))
    damage.do(quiz)
    with contextlib.suppress(KejuError):
        items_of(tmp_path, quiz, QUIZ)
    draft_mapping(Listing(quiz))


def test_two_records_of_one_id_are_refused(tmp_path, quiz):
    row = ("1", "何书？", "甲|乙", "1", "a.png")
    table(quiz / "q.csv", HEADS, row, row)
    with pytest.raises(DataError, match="the id '1' is also that of line 2"):
        items_of(tmp_path, quiz, QUIZ)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[source]", "[sorce]", "no key 'sorce'. Did you mean 'source'?"),
        ("tables =", "table =", "no key 'table'. Did you mean 'tables'?"),
        ("question =", "questions =", "[fields]: no key 'questions'. Did you mean 'question'?"),
        ('"from-0"', '"from-2"', "answer_is: Invalid enum value 'from-2'. Use text, from-0"),
        ('id = "n"', "id = 1", "fields"),
        ('"T7"', '"TODO"', "constants.task: this value of the draft is still TODO"),
        ('"ask"', '"aks"', "[fields] question: no record has a column 'aks'. Did you mean 'ask'?"),
        ('task = "T7"', 'task = "T99"', "no task has the name 'T99'"),
        ('task = "T7"', 'task = "recognition"', "Set [constants] query to one of: What"),
        ('"q.csv"', '"r*.csv"', "no table is called r*.csv; found q.csv"),
        ("[fields]", "[fields", "not readable as TOML"),
        ('group = "試卷"', 'split = "train"', "the split 'train' is neither test nor reference"),
    ],
)
def test_a_wrong_mapping_is_refused_in_one_line(tmp_path, quiz, old, new, problem):
    assert old in QUIZ
    with pytest.raises(KejuError) as refused:
        items_of(tmp_path, quiz, QUIZ.replace(old, new))
    assert problem in str(refused.value)


def test_a_question_that_is_missing_is_named(tmp_path, quiz):
    text = QUIZ.replace('question = "ask"\n', "").replace(
        "answer_is", 'prompt = "verbatim"\nanswer_is'
    )
    with pytest.raises(DataError, match=r"line 2: the blank \{question\}"):
        items_of(tmp_path, quiz, text)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ("(?P<a>", "not a regular expression"),
        ("[a-z.]+", "has no named group"),
        ("(?P<img>.*)", "the group 'img' of [source] names is also a column"),
        ("(?P<page>[0-9]+)x", "matches none of 1 paths, e.g. 'a.png'"),
    ],
)
def test_a_wrong_expression_is_refused(tmp_path, quiz, names, problem):
    text = QUIZ.replace('"q.csv"', f"\"q.csv\"\nnames = '{names}'")
    with pytest.raises(KejuError) as refused:
        items_of(tmp_path, quiz, text)
    assert problem in str(refused.value)


def test_an_expression_has_a_time_limit():
    assert named_groups("(?P<a>[0-9]+)x", ["12x", "x"]) == (("a",), [{"a": "12"}, None])
    with pytest.raises(UsageError, match=r"takes more than 0\.5 s"):
        named_groups("(?P<a>(x+)+)y", ["x" * 60], seconds=0.5)


def test_an_image_pattern_that_fits_two_files_is_refused(tmp_path, quiz):
    put(quiz / "s/a.png", picture(4))
    text = QUIZ.replace('"q.csv"', '"q.csv"\nimage_path = "**/{img}"')
    with pytest.raises(DataError, match=r"2 files fit '\*\*/a\.png': a\.png and s/a\.png"):
        items_of(tmp_path, quiz, text)


def test_mapped_without_a_mapping_says_how_to_draft_one(tmp_path, quiz):
    with pytest.raises(UsageError, match="keju data detect SRC --write-map FILE"):
        import_dataset("mapped", quiz, tmp_path / "out", **ABOUT)


# ---- drafts


def test_every_draft_is_toml_and_what_is_missing_is_marked(tmp_path):
    src = tmp_path / "src"
    table(src / "a.csv", ('q"\\\x1b', "答案"), ("x\u202e", "甲"))
    draft = draft_mapping(Listing(src))
    assert tomllib.loads(draft)["fields"]["answer"] == "答案"
    assert "\x1b" not in draft
    assert "\u202e" not in draft
    file = put(tmp_path / "m.toml", draft)
    with pytest.raises(DataError, match="still TODO"):
        read_mapping(file)


def test_a_pattern_covers_the_paths_that_it_is_made_from(tmp_path):
    for name in ("甲/page_01-a.png", "乙/page_02-b.png"):
        put(tmp_path / name, picture(1))
    pattern = path_pattern(Listing(tmp_path).images)
    groups, found = named_groups(pattern, ["甲/page_01-a.png", "readme.png"])
    assert groups == ("folder1", "part1", "number1", "part2")
    assert found == [{"folder1": "甲", "part1": "page", "number1": "01", "part2": "a"}, None]


def test_a_mapping_is_not_overwritten(tmp_path, quiz):
    file = put(tmp_path / "m.toml", "mine")
    with pytest.raises(UsageError, match="exists"):
        write_mapping(quiz, file)
    assert file.read_text() == "mine"


def test_the_command_line_drafts_previews_and_imports(tmp_path, quiz, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    assert run(app, ["data", "detect", "src", "--write-map", "m.toml"]).exit_code == 0
    put(tmp_path / "m.toml", QUIZ)
    shown = run(app, ["data", "detect", "src", "--map", "m.toml"])
    assert "keju data import mapped src --map m.toml" in shown.output
    assert "answer:   B" in shown.output
    about = ["--licence", "CC0-1.0", "--source", "x"]
    done = run(app, ["data", "import", "mapped", "src", "--map", "m.toml", "-o", "out", *about])
    assert done.exit_code == 0, done.output
    assert set(Dataset.open(tmp_path / "out").manifest.made) == {"format", "mapping"}


def test_the_preview_of_a_mapping_shows_its_error(tmp_path, quiz):
    file = put(tmp_path / "m.toml", QUIZ.replace('"img"', '"image"'))
    found = examine(quiz, mapping=file)
    assert "no record has a column 'image'" in str(found.preview.error)
