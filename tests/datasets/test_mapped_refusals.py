"""Wrong data is never imported silently: a mapping refuses what it does not name or cannot use."""

from __future__ import annotations

import json

import pytest

from keju.errors import DataError, KejuError
from tests.datasets.test_mapped import HEADS, QUIZ, items_of, quiz
from tests.support.released import picture, put, table

__all__ = ["quiz"]

ROW = ("1", "何书？", "說苑|論語", "1", "a.png")


def refusal(tmp_path, src, mapping):
    """The error of an import, which is one line."""
    with pytest.raises(KejuError) as refused:
        items_of(tmp_path, src, mapping)
    text = str(refused.value)
    assert "\n" not in text
    return text


# ---- the mapping file


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[[tables]]", "[[table]]", "no key 'table'. Did you mean 'tables'?"),
        ("path =", "paths =", "no key 'paths'. Did you mean 'path'?"),
        ("question =", "questions =", "[fields]: no key 'questions'. Did you mean 'question'?"),
        ("[constant_metadata]", "[source]", "no key 'source'"),
        ('"from-0"', '"from-2"', "value 'from-2'. Use text, from-0, from-1, letter"),
        ('id = "n"', "id = 1", "fields"),
        ('path = "q.csv"', 'path = "q.csv"\nshape = "rows"', "Use list, by-key"),
        ('"T7"', '"TODO"', "constants.task: this value of the draft is still TODO"),
        ('"T7"', '"TODO: T7 or T8"', "still TODO (T7 or T8)"),
        ('path = "q.csv"', 'path = "q.csv"\ntask = "TODO"', "tables 1.task: this value"),
        ('"ask"', '"aks"', "[fields] question: no record has a column 'aks'. Did you mean 'ask'?"),
        ('"opts"', '["opts", "E"]', "[fields] options: no record has a column 'E'"),
        ('"img"', '"images/{imgs}.*"', "[fields] image: no record has a column 'imgs'"),
        ("[constants]", "[metadata]\nyear = 'Jahr'\n[constants]", "[metadata] year: no record"),
        ('"q.csv"', '"r*.csv"', "no table is called r*.csv; found q.csv"),
        ("[fields]", "[fields", "not readable as TOML"),
        ('group = "試卷"', 'split = "train"', "the split 'train' is neither test nor reference"),
        ('question = "ask"\n', "", "the column 'ask' is neither mapped nor ignored"),
    ],
)
def test_a_wrong_mapping_is_refused_in_one_line(tmp_path, quiz, old, new, problem):
    assert old in QUIZ
    assert problem in refusal(tmp_path, quiz, QUIZ.replace(old, new))


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ("(?P<a>", "not a regular expression"),
        ("[a-z.]+", "has no named group"),
        ("(?P<page>a)(?=[.]).*", "look-around, including look-ahead"),
        ("(?P<page>.{1000}){1000}", "exceeds size limit"),
        ("(?P<img>.*)", "the group 'img' of names is also a column"),
        ("(?P<page>[0-9]+)x", "names matches none of 1 texts, e.g. 'a.png'"),
    ],
)
def test_a_wrong_expression_is_refused(tmp_path, quiz, names, problem):
    assert problem in refusal(tmp_path, quiz, f"names = '{names}'\n{QUIZ}")


def test_a_split_that_matches_no_text_names_the_table_and_the_pattern(tmp_path, quiz):
    with pytest.raises(DataError, match=r"split\.ask matches none of 1 texts, e\.g\.") as refused:
        items_of(tmp_path, quiz, "split.ask = '(?P<book>[0-9]+)'\n" + QUIZ)
    assert refused.value.file == str(quiz / "q.csv")
    assert refused.value.hint == "Edit the pattern of split.ask in the mapping"


# ---- tables, columns and cells


def test_a_table_that_the_mapping_does_not_name_is_refused(tmp_path, quiz):
    table(quiz / "more/extra.csv", HEADS, ROW)
    problem = refusal(tmp_path, quiz, QUIZ)
    assert "1 table of the source is neither mapped nor ignored: more/extra.csv" in problem
    assert '[[tables]] path = "more/extra.csv"' in problem
    assert set(items_of(tmp_path, quiz, 'ignored = ["more/*"]\n' + QUIZ)) == {"1"}


def test_a_column_that_the_mapping_does_not_name_is_refused(tmp_path, quiz):
    table(quiz / "q.csv", (*HEADS, "model_answer"), (*ROW, "B"))
    problem = refusal(tmp_path, quiz, QUIZ)
    assert "line 2: the column 'model_answer' is neither mapped nor ignored" in problem
    assert 'ignored = ["model_answer"]' in problem


def test_a_column_that_only_a_late_record_has_is_refused(tmp_path, quiz):
    rows = [{"n": str(n), "a": "答"} for n in range(1500)]
    put(quiz / "q.json", json.dumps([*rows, {"n": "x", "a": "答", "late": "1"}]))
    mapping = """
        ignored = ["q.csv"]
        tables = [{ path = "q.json" }]
        fields = { id = "n", answer = "a" }
        constants = { task = "T6", question = "何？" }
        """
    assert "object 1501: the column 'late' is neither mapped" in refusal(tmp_path, quiz, mapping)


@pytest.mark.parametrize("name", ["text", "name", "file", "task", "number"])
def test_a_column_called_like_one_of_keju_is_not_dropped(tmp_path, quiz, name):
    table(quiz / "q.csv", (*HEADS, name), (*ROW, "x"))
    assert f"the column '{name}' is neither mapped" in refusal(tmp_path, quiz, QUIZ)
    mapping = QUIZ.replace("[constants]", f'[metadata]\nown = "{name}"\n[constants]')
    assert items_of(tmp_path, quiz, mapping)["1"].metadata["own"] == "x"


def test_images_of_a_conversation_that_the_mapping_does_not_name_are_refused(tmp_path, quiz):
    content = [{"role": "user", "content": "<img>a.png</img>問"}]
    put(quiz / "c.json", json.dumps([{"messages": content}]))
    mapping = """
        ignored = ["q.csv"]
        messages = "messages"
        tables = [{ path = "c.json" }]
        fields.question = "messages.user"
        constants.task = "T6"
        """
    assert "the column 'messages.images' is neither mapped" in refusal(tmp_path, quiz, mapping)


@pytest.mark.parametrize("role", ["question", "answer", "transcription", "group", "task"])
@pytest.mark.parametrize("cell", [{"text": "何书？"}, [{"text": "何书？"}]])
def test_an_object_or_a_list_is_no_text(tmp_path, quiz, role, cell):
    put(quiz / "q.json", json.dumps([{"n": "1", "x": {"y": cell}}]))
    problem = refusal(tmp_path, quiz, f"""
        ignored = ["q.csv"]
        tables = [{{ path = "q.json" }}]
        fields = {{ id = "n", {role} = "x.y" }}
        constants = {{ task = "T6" }}
        """)  # fmt: skip
    assert "object 1: expected text in 'x.y'" in problem
    assert "OUTER.INNER" in problem


@pytest.mark.parametrize("cell", [None, "", "  "])
def test_a_blank_of_a_template_needs_a_value(tmp_path, quiz, cell):
    """``images/None.png`` was once imported for a null."""
    put(quiz / "images/None.png", picture(2))
    put(quiz / "images/.png", picture(3))
    put(quiz / "q.json", json.dumps([{"n": "1", "pic": "a"}, {"n": "2", "pic": cell}]))
    put(quiz / "images/a.png", picture(4))
    mapping = """
        ignored = ["q.csv"]
        tables = [{ path = "q.json" }]
        fields = { id = "n", image = "images/{pic}.*" }
        constants = { task = "T6", question = "何？" }
        """
    assert "object 2: no value in the column 'pic'" in refusal(tmp_path, quiz, mapping)


# ---- questions, options and answers


@pytest.mark.parametrize(
    ("row", "mapping", "problem"),
    [
        (("1", "何", "甲|乙", "2", "a.png"), QUIZ, "the answer '2' is not the number of an option"),
        (("1", "何", "甲|乙", "丙", "a.png"), QUIZ,
         "the answer '丙' is not one of the options A to B"),
        (("1", "何", "甲|乙", "B. 甲", "a.png"), QUIZ,
         "the answer 'B. 甲' is not one of the options A to B"),
        (("1", "何", "甲|乙", '["A", "B"]', "a.png"), QUIZ,
         "2 answers to a question with one right option"),
        (("1", "何", "A、甲 C、乙", "A", "a.png"), QUIZ, "expected options A, B, C …"),
        (("1", "何", "", "1", "a.png"), QUIZ, "the record has no options"),
        (("1", "", "甲|乙", "1", "a.png"), f"prompt = 'verbatim'\n{QUIZ}",
         "the blank {question}"),
        (("1", "何", "甲|乙", "1", ""), QUIZ, "without an image"),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_an_item_is_refused(tmp_path, quiz, row, mapping, problem):
    table(quiz / "q.csv", HEADS, row)
    assert f"q.csv: line 2: {problem}" in refusal(tmp_path, quiz, mapping)


# ---- images


def test_an_image_name_that_fits_two_files_is_refused(tmp_path, quiz):
    put(quiz / "s/a.png", picture(4))
    put(quiz / "s/b.png", picture(5))
    put(quiz / "t/b.png", picture(6))
    pattern = refusal(tmp_path, quiz, QUIZ.replace('"img"', '"**/{img}"'))
    assert "fit '**/a.png'" in pattern
    table(quiz / "q.csv", HEADS, (*ROW[:4], "b.png"))
    assert "line 2: several images fit 'b.png': " in refusal(tmp_path, quiz, QUIZ)


def test_an_image_that_no_file_is_called_after_is_refused(tmp_path, quiz):
    problem = refusal(tmp_path, quiz, QUIZ.replace('"img"', '"images/x{img}"'))
    assert "1 file is missing: images/xa.png (of line 2)" in problem
    assert "--option skip-missing=yes" in problem


@pytest.mark.parametrize("folder", ["T8", "书法"])
def test_an_image_in_the_folder_of_another_task_is_not_taken(tmp_path, quiz, folder):
    (quiz / "a.png").unlink()
    put(quiz / f"{folder}/a.png", picture(4))
    if folder == "T8":
        assert "1 file is missing: a.png" in refusal(tmp_path, quiz, QUIZ)
    put(quiz / "T7/a.png", picture(5))
    (item,) = items_of(tmp_path, quiz, QUIZ).values()
    named = items_of(tmp_path, quiz, QUIZ.replace('"img"', '"T7/{img}"'))["1"]
    assert item.images == named.images


# ---- tasks and ids


def test_a_task_that_no_benchmark_has_is_refused_with_the_line_to_add(tmp_path, quiz):
    problem = refusal(tmp_path, quiz, QUIZ.replace('task = "T7"', 'task = "单选"'))
    assert "line 2: no task has the name '单选'" in problem
    assert '[values.task]: "单选" = the id of a task' in problem
    several = refusal(tmp_path, quiz, QUIZ.replace('task = "T7"', 'task = "作者识别"'))
    assert "several tasks have the name '作者识别'" in several
    query = refusal(tmp_path, quiz, QUIZ.replace('task = "T7"', 'task = "recognition"'))
    assert "Set query in [constants] to one of: What" in query


@pytest.mark.parametrize(
    ("role", "name"), [("task_name", "标题识别"), ("domain", "绘画"), ("task_name", "Seal OCR")]
)
def test_a_record_that_names_another_task_or_domain_is_refused(tmp_path, quiz, role, name):
    table(quiz / "q.csv", (*HEADS, "name"), (*ROW, name))
    mapping = QUIZ.replace("[fields]", f'[fields]\n{role} = "name"')
    problem = refusal(tmp_path, quiz, mapping)
    assert "its task is T7" in problem
    assert f"but it names '{name}'" in problem


def test_two_records_of_one_id_are_refused(tmp_path, quiz):
    table(quiz / "q.csv", HEADS, ROW, ROW)
    problem = refusal(tmp_path, quiz, QUIZ)
    assert "line 3: the id '1' is also that of line 2" in problem
    assert 'id = "{COLUMN}-{COLUMN}"' in problem


def test_two_lines_of_a_second_table_with_one_key_are_refused(tmp_path, quiz):
    table(quiz / "books.csv", ("key", "title"), ("b1", "說苑"), ("b1", "論語"))
    mapping = 'lookup = [{ path = "books.csv", key = "key", by = "n" }]\n' + QUIZ
    assert "two different lines have the key 'b1'" in refusal(tmp_path, quiz, mapping)


def test_a_lookup_in_a_table_without_its_key_is_refused(tmp_path, quiz):
    table(quiz / "books.csv", ("key", "title"), ("b1", "說苑"))
    mapping = """
        ignored = ["title"]
        lookup = [{ path = "books.csv", key = "kee", by = "n" }]
        """
    assert "books.csv: line 2: no column 'kee'" in refusal(tmp_path, quiz, mapping + QUIZ)
    absent = mapping.replace("kee", "key").replace('by = "n"', 'by = "m"')
    assert "no record has its 'key' in 'm'" in refusal(tmp_path, quiz, absent + QUIZ)
    other = mapping.replace("kee", "key")
    assert "no record has its 'key' in 'n'" in refusal(tmp_path, quiz, other + QUIZ)
