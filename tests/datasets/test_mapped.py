"""FORMAT mapped: a source becomes items as a mapping file says."""

from __future__ import annotations

import contextlib
import json

import polars as pl
import pytest

from keju.datasets.readers import import_dataset
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
    import_dataset("mapped", src, out, **ABOUT, options={"map": str(file), **options})
    return {item.id: item for item in Dataset.open(out).items()}


# ---- odd layouts


def test_a_chinese_table_with_images_by_number(tmp_path):
    src = tmp_path / "src"
    heads = ("题目编号", "题型", "题干", "A", "B", "C", "正确答案", "朝代")
    table(src / "试题/第一批.csv", heads,
          ("7", "单选", "出自哪部书？", "說苑", "論語", "孟子", "論語", "唐"),
          ("9", "识字", "读出文字。", "", "", "", "天地", "宋"))  # fmt: skip
    put(src / "扫描/7.png", picture(7))
    put(src / "扫描/9.png", picture(9))
    found = items_of(tmp_path, src, """
        images = "扫描"
        metadata."朝代" = "朝代"
        values.task = { "单选" = "T7", "识字" = "T1" }
        [[tables]]
        path = "试题/第一批.csv"
        [fields]
        id = "题目编号"
        task = "题型"
        question = "题干"
        options = ["A", "B", "C"]
        answer = "正确答案"
        image = "{题目编号}.*"
        """)  # fmt: skip
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
    found = items_of(tmp_path, src, r"""
        names = '(?P<book>[^/]+)/(?P<char>.)_(?P<copy>[0-9]+)\.png'
        fields = { answer = "char", group = "book" }
        metadata = { copy = "copy" }
        constants = { task = "T1", question = "这是什么字？" }
        """)  # fmt: skip
    assert set(found) == {"甲/王_001", "甲/雨_002", "乙/子_001"}
    item = found["甲/王_001"]
    assert (item.answer, item.group, item.question) == ("王", "甲", "这是什么字？")
    assert prompt_of(item) == "这是什么字？"
    assert item.metadata == {"copy": "001"}


def test_lines_with_sidecar_texts(tmp_path):
    src = tmp_path / "src"
    for name, text in (("line_01", "天地玄黃"), ("line_02", "宇宙洪荒")):
        put(src / f"{name}.png", picture(int(name[-1])))
        put(src / f"{name}.gt.txt", text + "\n")
    found = items_of(tmp_path, src, """
        texts = "{folder}/{stem}.gt.txt"
        fields.answer = "text"
        constants.task = "page_level_ocr"
        """)  # fmt: skip
    assert {name: item.answer for name, item in found.items()} == {
        "line_01": "天地玄黃", "line_02": "宇宙洪荒",
    }  # fmt: skip


def test_two_lists_of_one_file(tmp_path):
    src = tmp_path / "src"
    put(src / "all.json", json.dumps({
        "T1": [{"i": "a.png", "t": "天"}], "qa": {"T6": [{"i": "a.png", "t": "地", "q": "何？"}]},
    }))  # fmt: skip
    put(src / "a.png", picture(1))
    found = items_of(tmp_path, src, """
        fields = { image = "i", answer = "t", question = "q", id = "{task}-{number}" }
        [[tables]]
        path = "all.json"
        key = "T1"
        task = "T1"
        [[tables]]
        path = "all.json"
        key = ["qa", "T6"]
        task = "T6"
        """)  # fmt: skip
    assert {name: item.answer for name, item in found.items()} == {"T1-1": "天", "T6-1": "地"}
    assert found["T6-1"].question == "何？"


@pytest.mark.parametrize(
    ("shape", "content"),
    [
        ("list", [{"k": "1", "t": "天"}, {"k": "2", "t": "地"}]),
        ("by-key", {"1": {"k": "1", "t": "天"}, "2": {"k": "2", "t": "地"}}),
    ],
)
def test_shapes_of_json_give_the_same_items(tmp_path, shape, content):
    src = tmp_path / "src"
    put(src / "gt.json", json.dumps(content))
    found = items_of(tmp_path, src, f"""
        ignored = ["*"]
        fields = {{ id = "k", answer = "t" }}
        constants = {{ task = "T6", question = "何？" }}
        [[tables]]
        path = "gt.json"
        shape = "{shape}"
        """)  # fmt: skip
    assert {name: item.answer for name, item in found.items()} == {"1": "天", "2": "地"}


def test_json_lines_without_the_suffix_of_json_lines(tmp_path):
    src = tmp_path / "src"
    records = [{"scan": "1.png", "text": "天地"}, {"scan": "2.png", "text": "玄黃"}]
    put(src / "gt.json", "\n".join(json.dumps(record) for record in records))
    for number in (1, 2):
        put(src / f"{number}.png", picture(number))
    mapping = """
        tables = [{ path = "gt.json" }]
        fields = { image = "scan", answer = "text" }
        constants.task = "page_level_ocr"
        """
    assert [item.answer for item in items_of(tmp_path, src, mapping).values()] == ["天地", "玄黃"]


def test_a_parquet_file_with_images_in_it(tmp_path):
    src = tmp_path / "src"
    src.mkdir()
    rows = [{"image": {"bytes": picture(n), "path": "x.png"}, "gt": f"字{n}"} for n in range(3)]
    pl.DataFrame(rows).write_parquet(src / "test.parquet")
    mapping = """
        tables = [{ path = "test.parquet" }]
        fields = { image = "image", answer = "gt" }
        constants.task = "page_level_ocr"
        """
    found = items_of(tmp_path, src, mapping)
    assert [item.answer for item in found.values()] == ["字0", "字1", "字2"]
    assert all(item.images[0].width == 40 for item in found.values())


# ---- conversations


@pytest.mark.parametrize(
    ("content", "question", "images"),
    [
        ("<image>\n问", "问", 0),
        ("<img>a.png</img>\n问", "问", 1),
        ("Picture 1: <img>a.png</img>\nPicture 2: <img>b.png</img>\n问", "问", 2),
        ([{"type": "text", "text": "问"},
          {"type": "image_url", "image_url": {"url": "a.png"}}], "问", 1),
        ([{"type": "image_url", "image_url": "a.png"}, {"type": "text", "text": "问"}], "问", 1),
    ],
)  # fmt: skip
def test_a_question_and_its_images_come_out_of_messages(tmp_path, content, question, images):
    src = tmp_path / "src"
    for name in "ab":
        put(src / f"{name}.png", picture(ord(name)))
    put(src / "c.json", json.dumps([{"messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": content},
        {"role": "assistant", "content": "答"},
    ]}]))  # fmt: skip
    image = 'image = "messages.images"' if images else ""
    (item,) = items_of(tmp_path, src, f"""
        messages = "messages"
        constants.task = "T6"
        [[tables]]
        path = "c.json"
        [fields]
        question = "messages.user"
        answer = "messages.assistant"
        {image}
        """).values()  # fmt: skip
    assert (item.question, item.answer, len(item.images)) == (question, "答", images)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ("no list", "not a list of messages"),
        ([], "not a list of messages"),
        (["text"], "not a list of messages"),
        ([{"content": "问"}], "a message without its role"),
        ([{"role": "assistant", "content": "答"}], "0 questions and 1 answer"),
        ([{"role": "user", "content": "一"}, {"role": "user", "content": "二"}], "2 questions"),
        ([{"role": "user", "content": [7]}], "a message that is not text"),
    ],
)
def test_a_conversation_of_another_form_is_refused(tmp_path, messages, problem):
    src = tmp_path / "src"
    put(src / "c.json", json.dumps([{"messages": messages}]))
    mapping = 'messages = "messages"\ntables = [{ path = "c.json" }]\nconstants.task = "T6"\n'
    with pytest.raises(DataError, match=rf"c\.json: object 1: .*{problem}"):
        items_of(tmp_path, src, mapping)


# ---- keys


HEADS = ("n", "ask", "opts", "right", "img")


@pytest.fixture
def quiz(tmp_path):
    src = tmp_path / "src"
    table(src / "q.csv", HEADS, ("1", "何书？", "說苑|論語", "1", "a.png"))
    put(src / "a.png", picture(1))
    return src


QUIZ = """
answer_is = "from-0"
[[tables]]
path = "q.csv"
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


def test_the_template_of_the_task_is_used_where_the_mapping_says_so(tmp_path, quiz):
    verbatim = items_of(tmp_path, quiz, QUIZ)["1"]
    template = items_of(tmp_path, quiz, 'prompt = "template"\n' + QUIZ)["1"]
    assert verbatim.verbatim
    assert not template.verbatim
    assert template.question == "何书？"
    assert "A、說苑 B、論語" in prompt_of(template)


def test_of_several_columns_the_first_with_a_value_counts_and_a_template_joins(tmp_path, quiz):
    table(quiz / "q.csv", ("n", "one", "two"), ("1", "", "乙"), ("2", "甲", "乙"))
    mapping = """
        tables = [{ path = "q.csv" }]
        constants = { task = "T6", question = "何？" }
        fields = { id = "n", answer = ["one", "two"], group = "{one}-{two}" }
        """
    found = items_of(tmp_path, quiz, mapping)
    assert [(item.answer, item.group) for item in found.values()] == [
        ("乙", "-乙"),
        ("甲", "甲-乙"),
    ]


def test_columns_without_a_role_are_named_as_metadata_or_ignored(tmp_path, quiz):
    less = QUIZ.replace('id = "n"\n', "")
    for line in ('ignored = ["*"]\n', 'ignored = ["n"]\n', 'ignored = ["n*"]\n'):
        ignored = items_of(tmp_path, quiz, line + less)
        assert ignored["q-000001"].metadata == {"exam": "2026"}
    renamed = less + '[metadata]\nnumber = "n"\n[values.number]\n"1" = "first"\n'
    assert items_of(tmp_path, quiz, renamed)["q-000001"].metadata == {
        "exam": "2026", "number": "first",
    }  # fmt: skip


def test_the_name_of_the_table_gives_columns(tmp_path, quiz):
    (quiz / "q.csv").rename(quiz / "T7_easy.csv")
    text = QUIZ.replace('"q.csv"', '"*.csv"')
    text = "split.name = '(?P<kind>T[0-9]+)_(?P<level>.*)[.]csv'\n" + text
    text = text.replace('task = "T7"\n', "").replace("[fields]", '[fields]\ntask = "kind"')
    item = items_of(tmp_path, quiz, text + '[metadata]\nlevel = "level"\n')["1"]
    assert item.task == "T7"
    assert item.metadata == {"exam": "2026", "level": "easy"}


def test_a_column_is_split_by_an_expression(tmp_path, quiz):
    table(quiz / "q.csv", ("n", "where"), ("1", "說苑·卷二"), ("2", "無卷"))
    found = items_of(tmp_path, quiz, """
        tables = [{ path = "q.csv" }]
        split.where = '(?P<book>.+)·(?P<roll>.+)'
        fields = { id = "n", group = "book" }
        metadata.roll = "roll"
        constants = { task = "T6", question = "何？" }
        """)  # fmt: skip
    assert found["1"].group == "說苑"
    assert found["1"].metadata == {"roll": "卷二"}
    assert (found["2"].group, found["2"].metadata) == ("", {})


def test_a_second_table_gives_columns(tmp_path, quiz):
    table(quiz / "q.csv", ("n", "book"), ("1", "b1"), ("2", "b9"))
    table(quiz / "books.csv", ("key", "title"), ("b1", "說苑"), ("b2", "論語"))
    found = items_of(tmp_path, quiz, """
        tables = [{ path = "q.csv" }]
        lookup = [{ path = "books.csv", key = "key", by = "book" }]
        fields = { id = "n", group = "book" }
        metadata.title = "title"
        constants = { task = "T6", question = "何？" }
        """)  # fmt: skip
    assert [item.metadata for item in found.values()] == [{"title": "說苑"}, {}]


def test_a_wide_table_gives_several_items_of_a_record(tmp_path, quiz):
    table(quiz / "q.csv", ("n", "text", "q1", "a1", "q2", "a2", "img"),
          ("1", "天地", "何人？", "孔子", "何地？", "", "a.png"))  # fmt: skip
    found = items_of(tmp_path, quiz, """
        tables = [{ path = "q.csv" }]
        fields = { image = "img" }
        items = [
            { task = "T1", id = "{n}-text", answer = "text" },
            { task = "T6", id = "{n}-a", question = "q1", answer = "a1" },
            { task = "T6", id = "{n}-b", question = "q2", answer = "a2" },
        ]
        """)  # fmt: skip
    assert {name: (item.task, item.answer) for name, item in found.items()} == {
        "1-text": ("T1", "天地"), "1-a": ("T6", "孔子"),
    }  # fmt: skip


def test_items_without_transcription_have_that_of_the_same_image(tmp_path, quiz):
    table(quiz / "q.csv", ("n", "t", "a", "img"),
          ("1", "T1", "學而時習之", "a.png"), ("2", "T6", "孔子", "a.png"))  # fmt: skip
    mapping = """
        tables = [{ path = "q.csv" }]
        fields = { id = "n", task = "t", answer = "a", image = "img" }
        constants.question = "何？"
        """
    alone = items_of(tmp_path, quiz, mapping)
    shared = items_of(tmp_path, quiz, "shared_transcriptions = true\n" + mapping)
    assert (alone["2"].transcription, shared["2"].transcription) == (None, "學而時習之")


# ---- files


def test_a_missing_image_is_an_error_or_a_note(tmp_path, quiz):
    table(quiz / "q.csv", HEADS,
          ("1", "何书？", "甲|乙", "1", "a.png"),
          ("2", "何书？", "甲|乙", "1", "b.png"))  # fmt: skip
    with pytest.raises(DataError, match=r"1 file is missing: b\.png \(of line 3\)"):
        items_of(tmp_path, quiz, QUIZ)
    assert set(items_of(tmp_path, quiz, QUIZ, **{"skip-missing": "yes"})) == {"1"}


def test_an_import_stops_after_a_thousand_missing_images(tmp_path, quiz):
    table(quiz / "q.csv", HEADS, ("a", "何书？", "甲|乙", "1", "a.png"),
          *((n, "何书？", "甲|乙", "1", f"x{n}.png") for n in range(1500)))  # fmt: skip
    with pytest.raises(DataError, match=r"1,000 files are missing: x0\.png .*…"):
        items_of(tmp_path, quiz, QUIZ)
    assert set(items_of(tmp_path, quiz, QUIZ, **{"skip-missing": "yes"})) == {"a"}


def test_a_cell_may_name_several_images(tmp_path, quiz):
    put(quiz / "b.png", picture(2))
    rows = [{"n": "1", "i": '["a.png", "b.png"]'}, {"n": "2", "i": ["b.png", "a.png"]}]
    put(quiz / "q.json", json.dumps([*rows, {"n": "3", "i": "a.png", "j": "b.png"}]))
    found = items_of(tmp_path, quiz, """
        ignored = ["q.csv"]
        tables = [{ path = "q.json" }]
        fields = { id = "n", image = ["i", "j"] }
        constants = { task = "T6", question = "何？" }
        """)  # fmt: skip
    one, two, three = (found[n].images for n in "123")
    assert len(one) == 2
    assert one == two[::-1] == three


@pytest.mark.parametrize("name", ["../secret.png", "/etc/passwd", "a/../../secret.png"])
def test_names_in_the_data_stay_inside_the_source(tmp_path, quiz, name):
    put(tmp_path / "secret.png", picture(3))
    table(quiz / "q.csv", HEADS, ("1", "何", "甲|乙", "1", name))
    for mapping in (QUIZ, QUIZ.replace('"img"', '"{img}"')):
        with pytest.raises(DataError, match="1 file is missing"):
            items_of(tmp_path, quiz, mapping)
    texts = 'texts = "{img}"\n' + QUIZ.replace('image = "img"\n', "")
    with pytest.raises(DataError, match="must be inside"):
        items_of(tmp_path, quiz, texts)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_no_damage_of_a_source_gives_another_error_than_one_of_keju(tmp_path, quiz, damage):
    put(quiz / "more.json", json.dumps([{"ID": 1, "Question": "问", "Answer": "答"}]))
    damage.do(quiz)
    with contextlib.suppress(KejuError):
        items_of(tmp_path, quiz, 'ignored = ["more.json"]\n' + QUIZ)


def test_mapped_without_a_mapping_says_how_to_draft_one(tmp_path, quiz):
    with pytest.raises(UsageError, match="keju data detect SRC --write-map FILE"):
        import_dataset("mapped", quiz, tmp_path / "out", **ABOUT)


def test_the_mapping_is_stored_in_the_dataset(tmp_path, quiz):
    file = put(tmp_path / "mapping.toml", QUIZ)
    import_dataset("mapped", quiz, tmp_path / "out", **ABOUT, options={"map": str(file)})
    assert Dataset.open(tmp_path / "out").manifest.made["mapping"] == QUIZ


def test_items_without_images_share_no_transcription(tmp_path) -> None:
    rows = [("id", "task", "question", "answer"), (1, "T1", "讀出。", "天地玄黃")]
    table(tmp_path / "src/q.csv", *rows, (2, "T6", "何書？", "千字文"))
    file = put(tmp_path / "m.toml", """
shared_transcriptions = true
tables = [{ path = "q.csv" }]
fields = { id = "id", task = "task", question = "question", answer = "answer" }
""")  # fmt: skip
    import_dataset(
        "mapped", tmp_path / "src", tmp_path / "out", **ABOUT, options={"map": str(file)}
    )
    items = Dataset.open(tmp_path / "out").items()
    assert [item.transcription for item in items] == ["天地玄黃", None]
