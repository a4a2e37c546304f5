"""Prompt files: the forms that are read, and the table that an error names."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.definitions import prompt_of, read_prompts
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
    return prompt_of(item, wording=read_prompts(path))


def test_a_template_is_the_whole_prompt(written):
    assert asked(written('[prompts.T7]\nask = "Book?\\n{options}"')) == "Book?\nA、論語 B、孟子"
    assert asked(written('[prompts.T7]\nask = "Now: {prompt}"')) == f"Now: {prompt_of(ITEM)}"
    assert asked(written('[prompts.T7]\nsystem = "Be brief."')) == prompt_of(ITEM)


def test_blanks_in_what_is_filled_in_stay_as_they_are(written):
    hostile = Item(id="i", benchmark="MCS-Bench", task="T7", options=("{prompt}", "{options}"))
    text = asked(written('[prompts.T7]\nask = "Book? {options} {\\"json\\": 1}"'), hostile)
    assert text.startswith('Book? A、{prompt} B、{options} {"json": 1}')


def test_a_released_question_lends_its_options(written):
    released = Item(id="i", benchmark="MCS-Bench", task="T7", verbatim=True,
                    question="出自哪本書？A. 論語 B. 孟子")  # fmt: skip
    path = written('[prompts.T7]\nask = "Book? {options}"')
    assert asked(path, released) == "Book? A、論語 B、孟子"
    assert asked(written('[prompts.T7]\nask = "Now: {question}{options}"'), released)


def test_the_name_has_the_hash_of_what_is_sent(written):
    one = read_prompts(written('[prompts.T7]\nask = "{prompt} x"'))
    same = read_prompts(written('what="other"\n[prompts.T7]\nask =  "{prompt} x"\n'))
    other = read_prompts(written('[prompts.T7]\nask = "{prompt} y"'))
    assert one == same
    assert one != other
    assert one.partition("@")[0] == "mine"
    with pytest.raises(DataError, match="hash"):
        register_wordings({one: wording(other)})


def test_a_system_prompt_alone_asks_every_task(written):
    name = read_prompts(written('system = "You read seals."'))
    assert prompt_of(ITEM, wording=name) == prompt_of(ITEM)
    assert wording(name).prompt("T1", "").system == "You read seals."


def test_question_forms_are_worded_one_by_one(written):
    text = '[prompts."recognition/Where"]\nask = "Where?"\nbox_convention = "yxyx-1000"'
    name = read_prompts(written(text))
    where = Item(id="w", benchmark="OBI-Bench", task="recognition", query="Where")
    assert prompt_of(where, wording=name).startswith("Where?")
    assert wording(name).prompt("recognition", "What") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[prompts.T7]\nask = '{optoins}'", ("prompts.T7", "'optoins'", "Did you mean 'options'?")),
        (
            "[prompts.T7]\nask = 'x {options} {colour_of}'",
            ("prompts.T7", "'colour_of'", "options, prompt, question"),
        ),
        ("\n[prompts.T7]\nask = 'Which?'", ("prompts.T7", "lacks the blank {options}")),
        ("[prompts.T6]\nask = 'Which?'", ("prompts.T6", "lacks the blank {question}")),
        ("[prompts.T77]\nask = 'x'", ("prompts.T77", "no task 'T77'", "Did you mean 'T7'")),
        ("[prompts.T7]\naks = 'x'", ("'aks'", "Did you mean 'ask'?")),
        ("[prompts.recognition]\nask = 'x'", ("prompts.recognition", "recognition/What")),
        (
            "[prompts.'recognition/Were']\nask = 'x'",
            ("prompts.recognition/Were", "Did you mean 'recognition/Where'?"),
        ),
        ("[prompts.'recognition/Where']\nask = 'x'", ("lacks the blank {box_format}",)),
        (
            "[prompts.'recognition/What']\nask = 'x'\nalso = ['Hw']",
            ("Did you mean 'recognition/How'?",),
        ),
        ("[benchmarks.AncientDoc.prompts.T7]\nask = 'x'", ("'benchmarks'",)),
        ("[forms.letter]\nen = '{prompt}'", ("'forms'",)),
        ("[tasks.T7]\nask = '{prompt} x'", ("'tasks'",)),
        ("[prompts.T7]\nask = ' '", ("prompts.T7", "empty")),
        ("[prompts.T7]\nask = 3", ("prompts.T7", "ask: expected text, got a whole number")),
        ("[prompts.T7]", ("changes nothing", "T7")),
        ("", ("changes nothing", "names no task")),
        ("[prompts.T7\n", ("not a prompt file",)),
        ("[prompts.T7]\nask = '{prompt}\x1b[31m{x}'", ("not a prompt file",)),
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


def test_a_file_whose_name_cannot_be_a_wordings_is_refused(written):
    with pytest.raises(DataError, match="cannot be the name"):
        read_prompts(written("system = 'x'", "a,b.toml"))
