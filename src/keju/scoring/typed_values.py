"""Values that are known by their form: one character, the title of a work, a text that is read.

Where a question asks for one of these (对应哪个汉字, 出自哪部书, 印文是什么), the value in a clause
is what is marked as such (“女”, 《出师表》, 「石渠宝笈」) after words that commit the model to it.
"""

from __future__ import annotations

import re

from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.wordings import fold, wording
from keju.text import is_han

_HAN = r"[\u3400-\u9fff\U00020000-\U0003ffff]"
_MARKED = {
    "character": rf"[“「『\"‘'《*【(]{{1,4}}(?P<value>{_HAN})字?[”」』\"’'》*】)]{{1,4}}",
    "title": r"(?P<value>《[^《》]{1,40}》|[“「『][^“”「」『』《》]{1,20}[”」』])",
    "text": r"[“「『\"‘](?P<value>[^“”「」『』\"‘’]{1,80})[”」』\"’]",
}
_BEFORE, _LONGEST_SIGN, _MOST_WORDS = 24, 3, 3


def typed_value(clause: str, question: str) -> str | None:
    """The value of the asked form to which a clause commits itself, or None.

    Of several the last; a value that is denied, compared or named as a part of the sign is none.
    """
    kinds = find_asked_phrase(question).kinds
    asked = fold(question)
    for kind, form in _MARKED.items():
        if kind not in kinds:
            continue
        found = [
            each["value"] for each in re.finditer(form, clause)
            if _is_committed(fold(clause[max(0, each.start() - _BEFORE) : each.start()]), kind,
                             near="《" not in each[0])
            and (fold(each["value"]) not in asked or kind == "character")
        ]  # fmt: skip
        if found:
            return found[-1]
    only: list[str] = re.findall(_HAN, clause)
    named = "character" in kinds and len(only) == 1 and only[0] not in asked
    if named and is_mostly_latin(clause) and not wording("short", "denied").search(fold(clause)):
        return only[0]
    return None


def misses_its_form(value: str, question: str) -> bool:
    """Whether a phrase cannot be what is asked for: a long phrase for one character."""
    if "character" not in find_asked_phrase(question).kinds:
        return False
    han = sum(map(is_han, value))
    return han > _LONGEST_SIGN or (not han and len(value.split()) > _MOST_WORDS)


def _is_committed(before: str, kind: str, *, near: bool) -> bool:
    if wording("short", "not_this", r"{}\W*$").search(before):
        return False
    around = r"{}\W*$" if near else r"{}.*$"
    return wording("short", f"commits_{kind}", around).search(before) is not None
