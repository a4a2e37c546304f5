"""Sentences that speak about a text of classical prose, known by their contrast with the text.

`remarks` knows such sentences by their wording. Here most of the text is known: a sentence in
another language, in another script, in modern words, or with a quotation of nearly the same text
is not a part of it, whatever it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from keju.scoring.blocks import Piece
from keju.scoring.han_scripts import is_simplified, is_traditional
from keju.scoring.remarks import PassageForm, is_mostly_latin, is_remark
from keju.scoring.response_lines import QUOTED, sentences_of_line
from keju.scoring.wordings import fold, wording
from keju.text import counted, han_only, has_han

_END_MARK = re.compile(r"[(（]?\s*(?:完|全文完|完毕|以上|终)\s*[)）]?[。.]?")
_SPEECH = re.compile(r"[曰云道言问問對对][:：]\Z")
_LONGEST = 20_000
_FEWEST_LATIN = 2
_NEARLY, _FEWEST_ALIKE = 0.75, 3


def without_talk(pieces: Sequence[Piece], form: PassageForm) -> list[Piece]:
    """The pieces without the sentences at the ends of their lines that contrast with the rest.

    All pieces where no line is clearly text: then there is nothing to compare with.
    """
    if sum(len(each.text) for each in pieces) > _LONGEST:
        return list(pieces)
    main = _main_text(pieces, form)
    if not main:
        return list(pieces)
    kept = []
    for each, ahead in zip(pieces, [*pieces[1:], None], strict=True):
        leads = ahead is not None and ahead.paragraph != each.paragraph and _leads(each.text)
        text = each.text if each.fenced else _trimmed(each.text, main, form)
        if text and not leads:
            kept.append(each._replace(text=text))
    return kept or list(pieces)


def _leads(line: str) -> bool:
    """Whether a line ends with a colon, and is not the beginning of a speech."""
    core = line.strip()
    return core.endswith((":", "：")) and not _SPEECH.search(core)


def nearly_same(left: str, right: str) -> bool:
    """Whether two texts share most of their characters, in any order."""
    one, two = Counter(han_only(counted(left))), Counter(han_only(counted(right)))
    shared = (one & two).total()
    longer = max(one.total(), two.total())
    return shared >= _FEWEST_ALIKE and shared >= _NEARLY * longer


def _main_text(pieces: Sequence[Piece], form: PassageForm) -> str:
    """The sentences that are text by themselves; those in traditional characters, if there are."""
    found = [
        sentence
        for each in pieces
        for sentence in sentences_of_line(each.text)
        if has_han(sentence)
        and not QUOTED.search(sentence)
        and not _END_MARK.fullmatch(sentence.strip())
        and not is_mostly_latin(sentence)
        and not _modern(sentence)
        and not is_remark(sentence, form)
    ]
    traditional = [each for each in found if is_traditional(each)]
    if traditional and not any("。" in each for each in traditional):
        found = [each for each in found if not (is_simplified(each, 1) and "。" in each)]
    return "".join(found)


def _trimmed(line: str, main: str, form: PassageForm) -> str:
    """A line without the sentences at its ends that speak about the main text."""
    parts = sentences_of_line(line)
    spoken = [_speaks_of(each, main, form) for each in parts]
    if not any(spoken):
        return line
    while spoken and spoken[-1]:
        parts.pop()
        spoken.pop()
    while spoken and spoken[0]:
        del parts[0], spoken[0]
    return "".join(parts).strip()


def _speaks_of(sentence: str, main: str, form: PassageForm) -> bool:
    """Whether a sentence speaks about the main text, and is not a part of it."""
    core = sentence.strip()
    said = QUOTED.sub("", core)
    if is_traditional(said) and not is_simplified(main):
        return False
    if _END_MARK.fullmatch(core) or is_remark(sentence, form):
        return True
    if is_mostly_latin(said) and len(re.findall("[A-Za-z]{2,}", said)) >= _FEWEST_LATIN:
        return True
    quoted = [each[0] for each in QUOTED.finditer(core)]
    if len(said) > 1 and any(nearly_same(each, main) for each in quoted):
        return True
    fewest = 1 if "。" in core and "。" not in main else 2
    return _modern(said) or (is_simplified(said, fewest) and is_traditional(main))


def differs(sentence: str, text: str) -> bool:
    """Whether a sentence is of another language, time or script than a classical text."""
    other = is_mostly_latin(sentence) or _modern(sentence) or is_remark(sentence, "transcription")
    return other or (is_simplified(sentence) and is_traditional(text))


def _modern(text: str) -> bool:
    return wording("passages", "never_classical").search(fold(text)) is not None
