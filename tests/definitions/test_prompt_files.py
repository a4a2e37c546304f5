"""Prompt files: the forms that are read, and the table that an error names."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.definitions import prompt_of, read_prompts, task
from keju.definitions.wordings import register_wordings, wording
from keju.errors import DataError
from keju.items import Item

ITEM = Item(id="i", benchmark="MCS-Bench", task="T7", options=("論語", "孟子"), answer="A")


@pytest.fixture
def written(tmp_path: Path):
    """Write a prompt file and give its path."""

    def write(text: str, name: str = "mine.toml") -> Path:
        file = tmp_path / name
        file.write_text(text, "utf-8")
        return file

    return write


def asked(path: Path, item: Item = ITEM) -> str:
    (name,) = read_prompts(path)
    return prompt_of(item, wording=name)


def test_what_a_file_leaves_out_stays_published(written):
    requirement = task("T7").queries[0].requirement
    ask = prompt_of(ITEM).removesuffix(f"\n{requirement}")
    assert asked(written('[tasks.T7]\nask = "Book?\\n{options}"')) == (
        f"Book?\nA、論語 B、孟子\n{requirement}"
    )
    assert asked(written('[tasks.T7]\nrequirement = "One letter."')) == f"{ask}\nOne letter."
    assert asked(written('[tasks.T7]\nrequirement = ""')) == ask
    assert asked(written('[tasks.T7]\nask = "Now: {prompt}"')) == f"Now: {prompt_of(ITEM)}"


def test_blanks_in_what_is_filled_in_stay_as_they_are(written):
    hostile = Item(id="i", benchmark="MCS-Bench", task="T7", options=("{prompt}", "{options}"))
    text = asked(written('[tasks.T7]\nask = "Book? {options} {\\"json\\": 1}"'), hostile)
    assert text.startswith('Book? A、{prompt} B、{options} {"json": 1}')


def test_a_released_question_lends_its_options(written):
    released = Item(id="i", benchmark="MCS-Bench", task="T7", verbatim=True,
                    question="出自哪本書？A. 論語 B. 孟子")  # fmt: skip
    path = written('[tasks.T7]\nask = "Book? {options}"\nrequirement = ""')
    assert asked(path, released) == "Book? A、論語 B、孟子"
    assert asked(written('[tasks.T7]\nask = "Now: {question}{options}"\nrequirement=""'), released)


def test_the_name_has_the_hash_of_what_is_sent(written):
    (one,) = read_prompts(written('name = "a"\n[tasks.T7]\nrequirement = "x"'))
    (same,) = read_prompts(written('name="a"\nwhat="other"\n[tasks.T7]\nrequirement = "x"\n'))
    (other,) = read_prompts(written('name = "a"\n[tasks.T7]\nrequirement = "y"'))
    assert one == same
    assert one != other
    assert one.partition("@")[0] == "a"
    with pytest.raises(DataError, match="hash"):
        register_wordings({one: wording(other)})


def test_a_system_prompt_alone_asks_every_task(written):
    (name,) = read_prompts(written('system = "You read seals."'))
    assert prompt_of(ITEM, wording=name) == prompt_of(ITEM)
    assert wording(name).prompt("T1", "").system == "You read seals."


def test_question_forms_are_worded_one_by_one(written):
    text = '[tasks.recognition.queries.Where]\nask = "Where?"\nbox_convention = "yxyx-1000"'
    (name,) = read_prompts(written(text))
    where = Item(id="w", benchmark="OBI-Bench", task="recognition", query="Where")
    assert prompt_of(where, wording=name).startswith("Where?")
    assert wording(name).prompt("recognition", "What") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tasks.T7]\nask = '{optoins}'", ("tasks.T7", "{optoins}", "Did you mean 'options'?")),
        ("[tasks.T7]\nask = 'x {options} {colour_of}'", ("tasks.T7", "{colour_of}", "Blanks: ")),
        ("\n[tasks.T7]\nask = 'Which?'", ("tasks.T7", "lacks the blank {options}")),
        ("[tasks.T6]\nask = 'Which?'", ("tasks.T6", "lacks the blank {question}")),
        ("[tasks.T77]\nask = 'x'", ("tasks.T77", "no task 'T77'", "Did you mean 'T7'")),
        ("[tasks.T7]\naks = 'x'", ("'aks'", "Did you mean 'ask'?")),
        ("[tasks.recognition]\nask = 'x'", ("recognition.queries.What",)),
        (
            "[tasks.recognition.queries.Were]\nask = 'x'",
            ("tasks.recognition", "Did you mean 'Where'?"),
        ),
        ("[tasks.recognition.queries.Where]\nask = 'x'", ("lacks the blank {box_format}",)),
        ("[benchmarks.AncientDoc.tasks.T7]\nask = 'x'", ("'benchmarks'",)),
        ("[tasks.T7]\nask = ''", ("tasks.T7", "empty")),
        ("[tasks.T7]\nask = 3", ("Expected `str | null`, got `int`",)),
        ("[tasks.T7]", ("changes nothing", "T7")),
        ("", ("changes nothing", "names no task")),
        ("name = 'a,b'\nsystem = 'x'", ("cannot be the name",)),
        ("system = 'x'\n[wordings.a]\nsystem = 'y'", ("[wordings.NAME]",)),
        ("[tasks.T7\n", ("not a prompt file",)),
        ("[tasks.T7]\nask = '{prompt}\x1b[31m{x}'", ("not a prompt file",)),
    ],
)
def test_a_wrong_file_is_one_line_with_the_place(written, text: str, words: tuple[str, ...]):
    path = written(text)
    with pytest.raises(DataError) as caught:
        read_prompts(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    for word in words:
        assert word in said
