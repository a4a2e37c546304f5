"""Canonical form of an item for comparison: its question and answer without its task's template.

Shingles of whole prompts are misleading: two multiple-choice questions that differ only in their
letter have a similarity of .97, and a question whose options were shuffled only .8 with itself. So
the task's template is removed, the letter becomes the text of its option, and options are sorted.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from string import ascii_uppercase
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from keju.definitions import options_of, query_of
from keju.items import Item
from keju.text.han import to_half_width
from keju.text.normalise import normalise

SAME_ANSWER = 0.95
"""Edit similarity from which long answers count as the same; shorter ones must be equal."""

_LONG = 30
"""Minimum length in characters of an answer in which one typing error does not make another answer.
"""

_BLANK = re.compile(r"\\\{([a-z_]+)\\\}")
_LETTERS = re.compile(r"[A-Z](?:[\s、，,;；]*[A-Z])*")
_SPACE = re.compile(r"\s+")
_MARKS = str.maketrans("。「」『』“”‘’﹁﹂﹃﹄〈〉《》、", '.""""""""""""<><>,')


class Canonical(NamedTuple):
    """The words of an item, folded.

    Attributes:
        asked: the question without the task's template and the options.
        options: their texts, sorted.
        answer: its text, never a letter; boxes or image positions where those are the answer.
    """

    asked: str
    options: tuple[str, ...]
    answer: str

    @property
    def text(self) -> str:
        """All parts as one text, for shingles."""
        return "\n".join((self.asked, *self.options, self.answer))


def canonicalize(item: Item, *, simplify: bool = False) -> Canonical:
    """Convert an item to its canonical form.

    NFC, full-width forms narrowed, without white space and punctuation (except marks between digits
    and signs before them). Where the marks are the answer they stay, each in one form.

    With `simplify`, traditional and variant characters are folded too, as `normalise` does.

    Raises:
        DataError: its task is not in the catalogue.
    """
    options = item.options if is_labelled(item) else options_of(item)
    answers = [item.answer or item.answer_simplified]
    if options:
        answers = _resolve_letters(answers[0].strip(), options)
    marks = not is_labelled(item) and query_of(item).form == "punctuated"
    parts = [fold_text(each, simplify=simplify, marks=marks) for each in answers]
    parts += [f"{box.x0:g},{box.y0:g},{box.x1:g},{box.y1:g}" for box in item.boxes]
    parts += [str(place) for place in item.relevant]
    own = _extract_own_words(item, options)
    return Canonical(
        "\n".join(fold_text(each, simplify=simplify) for each in own),
        tuple(sorted(fold_text(each, simplify=simplify) for each in options)),
        "\n".join(parts),
    )


def fold_text(text: str, *, simplify: bool = False, marks: bool = False) -> str:
    """Remove differences from a text that do not change its meaning.

    With `simplify`, variant and traditional characters are folded too; with `marks`, punctuation
    stays, each mark in one form.
    """
    text = normalise(text, "script") if simplify else unicodedata.normalize("NFC", text)
    text = to_half_width(text)
    if marks:
        return _SPACE.sub("", text.translate(_MARKS))
    return _compile_punctuation().sub("", text)


def is_same_answer(left: str, right: str) -> bool:
    """Return whether two canonical answers are the same; long ones may differ by a typing error."""
    if left == right:
        return True
    if min(len(left), len(right)) < _LONG:
        return False
    likeness = Levenshtein.normalized_similarity(left, right, score_cutoff=SAME_ANSWER)
    return likeness >= SAME_ANSWER


def _resolve_letters(answer: str, options: tuple[str, ...]) -> list[str]:
    """Return the texts of the options that letters name, sorted; or the answer if not letters."""
    answer = to_half_width(answer)
    if not _LETTERS.fullmatch(answer):
        return [answer]
    places = sorted({ascii_uppercase.index(each) for each in answer if each in ascii_uppercase})
    if places[-1] >= len(options):
        return [answer]
    return sorted(options[place] for place in places)


def is_labelled(item: Item) -> bool:
    """Whether an item only labels an image, as the examples from which classes are learned do."""
    return item.split == "reference" and not item.query


def _extract_own_words(item: Item, options: tuple[str, ...]) -> list[str]:
    """Extract the question's own words: values of the template's placeholders, without options."""
    if not item.verbatim or is_labelled(item):
        blanks = [text for _, text in sorted(item.fields.items())]
        return [item.question, *blanks]
    query = query_of(item)
    if match := _compile_template(query.template).fullmatch(_SPACE.sub("", item.question)):
        return [text for name, text in match.groupdict().items() if name != "options"]
    own = item.question.replace(query.requirement, "") if query.requirement else item.question
    if options and not item.options:
        # The options begin at the first label, a letter followed by a mark.
        before, found, _ = own.partition(options[0])
        own = re.sub(r"[(（\[【]?[AＡ][、.．:：)）\]】]?\s*\Z", "", before) if found else own
    return [own]


@cache
def _compile_template(template: str) -> re.Pattern[str]:
    """Compile a template to a pattern whose groups are its placeholders; it ignores white space."""
    seen: set[str] = set()

    def group(blank: re.Match[str]) -> str:
        if blank[1] in seen or blank[1] == "box_format":
            return ".*?"
        seen.add(blank[1])
        return f"(?P<{blank[1]}>.*?)"

    return re.compile(_BLANK.sub(group, re.escape(_SPACE.sub("", template))), re.DOTALL)


@cache
def _compile_punctuation() -> re.Pattern[str]:
    """Compile a pattern of white space and punctuation, except in numbers and signs before them."""
    chars = [chr(code) for code in range(0x10000) if unicodedata.category(chr(code))[0] in "PZC"
             and not 0xD800 <= code < 0xF900]  # fmt: skip
    mark = f"[{re.escape(''.join(chars))}]"
    return re.compile(rf"(?<![0-9])(?![-−][0-9]){mark}|{mark}(?![0-9])")
