"""`options_in`: find the options of a multiple-choice question inside its text."""

from __future__ import annotations

import re
from bisect import bisect_right
from string import ascii_uppercase

MAX_OPTIONS = len(ascii_uppercase)

_FOLD = str.maketrans({chr(0xFF21 + i): letter for i, letter in enumerate(ascii_uppercase)})
_LABEL = re.compile(r"[(（\[【]?(?P<letter>[A-Z])\s{0,3}[、.．:：)）\]】]")
_BEFORE = re.compile(r"[\s。．；;，,、？?！!：:)）\]】]\Z")
_REQUIREMENT = re.compile(
    r"(?:(?<!^)要求[：:]|(?<=[\s。])请?(?:只|仅|直接)(?:输出|回答)).*\Z", re.DOTALL
)
_EDGE = " \t\r\n\u3000；;，,"


def options_in(question: str) -> tuple[str, ...]:
    """The options that a question prints, in order of their letters; empty if it prints none.

    Labels count upwards from A, in the forms ``A、xx``, ``A. xx``, ``A．xx``, ``A：xx``, ``(A)
    xx``, separated by spaces, line breaks or stops. A mark 、 inside an option does not separate.
    The answer-format sentence after the last option and a full stop at the end of the whole list
    are removed. Our reading.
    """
    text = question.translate(_FOLD)
    labels = list(_LABEL.finditer(text))
    chain = _longest([label for label in labels if _stands_apart(label)]) or _longest(
        [label for label in labels if not text[label.start() - 1 : label.start()].isascii()]
    )
    if not chain:
        return ()
    ends = [label.start() for label in chain[1:]] + [len(question)]
    options = [
        question[label.end() : end].strip(_EDGE) for label, end in zip(chain, ends, strict=True)
    ]
    last = _REQUIREMENT.sub("", options[-1]).strip(_EDGE)
    if not any("\n" in option for option in options[:-1]):
        last = last.partition("\n")[0].strip(_EDGE)
    if not any(option.endswith("。") for option in options[:-1]):
        last = last.removesuffix("。")
    return (*options[:-1], last)


def _stands_apart(label: re.Match[str]) -> bool:
    before = label.string[: label.start()][-1:]
    has_bracket = label[0][0] != label["letter"]
    return has_bracket or not before or _BEFORE.search(before) is not None


def _longest(labels: list[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run A, B, C, … of labels; of equal ones the last, since options come last."""
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label["letter"], []).append(place)
    longest: list[int] = []
    for first in places.get("A", ()):
        run = [first]
        for letter in ascii_uppercase[1:]:
            of_letter = places.get(letter, [])
            after = bisect_right(of_letter, run[-1])
            if after == len(of_letter):
                break
            run.append(of_letter[after])
        if len(run) >= max(2, len(longest)):
            longest = run
    return [labels[place] for place in longest]
