"""examples/flexible_accuracy.py: published values, a plain version of the algorithm, a command."""

from __future__ import annotations

import json
import random
import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keju
from keju.items import Item
from keju.metrics import distance
from tests.support import commanding
from tests.support.making import make_dataset

EXAMPLE = Path(__file__).parents[1] / "examples" / "flexible_accuracy.py"


def load_example() -> ModuleType:
    """The file as a module, without a declaration in this process."""
    spec = spec_from_file_location("flexible_accuracy", EXAMPLE)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keju, "metric", lambda **_: lambda function: function)
        patch.setitem(sys.modules, "flexible_accuracy", module)
        spec.loader.exec_module(module)
    return module


flexible = load_example()
flexible_edits = flexible.flexible_edits

WORDS = ("Eight", "happy", "frogs", "scuba", "dived", "Jenny", "chick", "flaps", "white", "wings")
BLOCKS = "01234/56789"
# Figure 4 of the paper: the order of the words in reference and result, "/" between two lines.
FIGURE_4 = {
    "no errors": (BLOCKS, BLOCKS, 1.0),
    "other order of blocks": (BLOCKS, "56789/01234", 1.0),
    "merged across columns": ("012/34/567/89", "012567/3489", 0.964),
    "split too much": (BLOCKS, "012/567/34/89", 0.966),
    "a part missing": (BLOCKS, "01234", 0.5),
    "the other part missing": (BLOCKS, "56789", 0.5),
    "all missing": (BLOCKS, "", 0.0),
    "added parts": ("01234", "01234/56", 0.621),
}


def lines(order: str) -> list[str]:
    return [" ".join(WORDS[int(word)] for word in part) for part in order.split("/") if part]


@pytest.mark.parametrize("name", FIGURE_4)
def test_the_examples_of_figure_4_have_the_published_values(name):
    reference, result, wanted = FIGURE_4[name]
    found = flexible_edits(lines(reference), lines(result))
    assert found.accuracy == pytest.approx(wanted, abs=0.001)
    assert found.complete


@pytest.mark.parametrize(
    "result",
    [
        '1 hav/nospecial/talents./I am one/passionate/curiousity."/Alberto/Emstein',
        '1 hav/nospecial/talents. Alberto/I am one Emstein/passionate/curiousity."',
        'Alberto/Emstein/1 hav/nospecial/talents./I am one/passionate/curiousity."',
    ],
)
def test_the_three_layouts_of_figure_3_have_the_same_15_edits_in_68_characters(result):
    reference = '"I have/no special/talent./I am only/passionately/curious."/Albert/Einstein'
    assert flexible_edits(reference.split("/"), result.split("/")) == (15, 68, True)


COLUMNS = ["".join(chr(0x4E00 + 8 * column + row) for row in range(8)) for column in range(6)]
ACROSS = ["".join(column[row] for column in COLUMNS) for row in range(8)]


def test_columns_read_as_rows_are_few_characters_although_all_are_read():
    assert flexible_edits(COLUMNS, COLUMNS[::-1]).accuracy == 1
    assert flexible_edits(COLUMNS, ACROSS) == (34, 48, True)
    assert flexible_edits(COLUMNS, [row[::-1] for row in ACROSS]) == (38, 48, True)


def test_the_line_breaks_of_both_texts_matter():
    assert flexible_edits(["".join(COLUMNS)], ACROSS).edits == 39
    assert flexible_edits(COLUMNS, ["".join(ACROSS)]).edits == 41


def test_lines_without_text_count_nothing_and_an_empty_reference_is_undefined():
    assert flexible_edits(["", "天地", ""], ["天地", ""]).accuracy == 1
    assert flexible_edits(["天"], []).accuracy == 0
    assert flexible_edits(["天"], ["地", "玄黃", "天"]).accuracy == 0
    with pytest.raises(ValueError, match="no characters"):
        flexible_edits(["", ""], ["天"])


def plain_match(one: str, other: str) -> tuple[int, int, int, int, int]:
    """Edits, difference, offset, length and place of the best segment, one after another."""
    short, long = sorted((one, other), key=len)
    if len(short) == len(long):
        return distance(one, other), 0, 0, len(one), 0
    difference = len(long) - len(short)
    edits = [distance(short, long[at : at + len(short) - 1]) for at in range(difference + 1)]
    place = edits.index(min(edits))
    offset = difference // 2 - abs(place - difference // 2) if difference > 1 else 0
    return min(edits), difference, offset, len(short), place


def plain_edits(reference: list[str], hypothesis: list[str]) -> int:
    """The same algorithm with one set of coefficients after the other."""
    best = distance("".join(reference), "".join(hypothesis))
    for a, b, c, d in product(range(15, 31, 5), range(0, 24, 3), range(4), range(6)):
        truth = sorted(filter(None, reference), key=len, reverse=True)
        read, total = [*filter(None, hypothesis)], 0
        while truth and read:
            found = {}
            for at, pair in enumerate(product(truth, read)):
                edits, difference, offset, length, place = plain_match(*pair)
                penalty = a * edits + b * difference + c * offset - d * length
                found[penalty, at] = edits, length, place
            (_, at), (edits, length, place) = min(found.items())
            one = truth.pop(at // len(read))
            other = read.pop(at % len(read))
            total += edits
            if len(one) != len(other):
                side, long = (truth, one) if len(one) > len(other) else (read, other)
                parts = long[: max(place - 1, 0)].strip(), long[place + length :].strip()
                side += filter(None, parts)
            truth.sort(key=len, reverse=True)
        best = min(best, total + sum(map(len, truth + read)))
    return best


TEXTS = st.lists(st.text("天地玄黃", max_size=6), min_size=1, max_size=4)


@settings(max_examples=25)
@given(TEXTS.filter(any), TEXTS)
def test_it_is_what_the_plain_algorithm_finds(reference, hypothesis):
    found = flexible_edits(reference, hypothesis)
    assert found.complete
    assert found.edits == plain_edits(reference, hypothesis)
    assert found.edits <= distance("".join(reference), "".join(hypothesis))


def test_a_long_text_is_bounded_and_no_worse_than_the_edit_distance(monkeypatch):
    draw = random.Random(1)
    reference = ["".join(chr(0x4E00 + draw.randrange(800)) for _ in range(30)) for _ in range(20)]
    hypothesis = ["".join(column[row] for column in reference) for row in range(30)]
    edits = distance("".join(reference), "".join(hypothesis))
    with monkeypatch.context() as patch:
        patch.setattr(flexible, "MOST_WORK", 1000)
        assert flexible_edits(reference, hypothesis) == (edits, 600, False)
    assert flexible_edits(reference, hypothesis).edits < edits
    assert flexible_edits(["天"] * 400, ["地"] * 400) == (400, 400, False)


def test_a_command_computes_it_for_transcriptions_without_their_punctuation(tmp_path):
    item = Item(id="a", benchmark="pages", task="page_ocr", answer="論語，\n孟子。")
    make_dataset(tmp_path / "pages", [item])
    (tmp_path / "answers.jsonl").write_text(json.dumps({"item": "a", "text": "孟子\n论文"}))
    for command in (
        ("run", "pages", "--model", "replay:answers.jsonl", "--out", "run"),
        ("score", "run", "--plugin", EXAMPLE, "--json", "scores.json"),
    ):
        done = commanding.keju(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "scores.json").read_text("utf-8"))["strict"]["tasks"]
    assert values["page_ocr"]["FlexCharAcc"] == 0.75
