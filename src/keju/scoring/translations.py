"""The one translation in a response: without the original, other versions and talk about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keju.scoring.blocks import Piece
from keju.scoring.quotations import recommended_version
from keju.scoring.remarks import is_mostly_latin, is_remark
from keju.scoring.response_lines import QUOTED, sentences_of_line
from keju.scoring.wordings import fold, wording
from keju.text import count_han

_SPEECH = re.compile(r"[说道问答曰云写题][:：]?[*\s]*\Z")
_LONGEST = 20_000
_LONGEST_LEAD = 40
_OTHERS = frozenset({"original", "unpunctuated", "punctuated"})


def only_talks(body: str) -> bool:
    """Whether every sentence of a response speaks about a translation, and none is one."""
    lines = [line for line in body.split("\n") if line.strip(" *#>-")]
    return len(body) < _LONGEST and all(
        _is_talk(each) for line in lines for each in sentences_of_line(line)
    )


def _is_talk(sentence: str) -> bool:
    """Whether a sentence speaks about a translation or its original."""
    return _names_translation(sentence) or _names_writings(sentence)


def _names_translation(sentence: str) -> bool:
    flat = fold(QUOTED.sub("", sentence))
    return is_remark(sentence, "translation") or bool(
        wording("passages", "of_translating").search(flat)
    )


def _names_writings(sentence: str) -> bool:
    """Whether a sentence has several words for writings; a translated text may have them too."""
    flat = fold(QUOTED.sub("", sentence))
    return len(set(wording("passages", "of_writings").findall(flat))) > 1


def _talk_of_piece(piece: Piece, sentences: Sequence[str]) -> list[bool]:
    """Which sentences of a piece are talk; words for writings count if all its sentences are."""
    if piece.fenced:
        return [False] * len(sentences)
    talk = [_is_talk(each) for each in sentences]
    return talk if all(talk) else [_names_translation(each) for each in sentences]


def _without_talk(found: list[Piece]) -> list[Piece]:
    """The pieces without the sentences of talk before and after the text."""
    if _size(found) > _LONGEST:
        return found
    sentences = [[each.text] if each.fenced else sentences_of_line(each.text) for each in found]
    parts = [(place, part) for place, several in enumerate(sentences) for part in several]
    talk = [
        each
        for piece, several in zip(found, sentences, strict=True)
        for each in _talk_of_piece(piece, several)
    ]
    left = [part for (_, part), spoken in zip(parts, talk, strict=True) if not spoken]
    chinese = not is_mostly_latin("".join(part for part in left if not _is_classical(part)))
    talk = [
        spoken or (chinese and is_mostly_latin(part))
        for (_, part), spoken in zip(parts, talk, strict=True)
    ]
    lead = found[0].text.strip()
    if len(found) > 1 and lead.endswith((":", "：")) and len(lead) <= _LONGEST_LEAD:
        talk[0] = talk[0] or not _SPEECH.search(lead.rstrip(":："))
    if all(talk):
        return found
    while talk[-1]:
        talk.pop()
        parts.pop()
    while talk[0]:
        del talk[0], parts[0]
    parts = [part for part in parts if not (chinese and is_mostly_latin(part[1]))]
    texts = {place: "" for place, _ in parts}
    for place, part in parts:
        texts[place] += part
    return [found[place]._replace(text=text) for place, text in texts.items()]


def _size(pieces: Sequence[Piece]) -> int:
    return sum(len(each.text) for each in pieces)


def one_translation(found: list[Piece], pieces: Sequence[Piece]) -> list[Piece]:
    """One version: the one that the model recommends, else the first; without the original."""
    numbers = sorted({each.version for each in found})
    if len(numbers) > 1:
        numbers = [each for each in numbers if each] or numbers
        wanted = numbers[0]
        names = [next(each.name for each in found if each.version == one) for one in numbers]
        place = recommended_version(pieces, names)
        if place is not None and 0 <= place < len(numbers):
            wanted = numbers[place]
        found = [each for each in found if each.version == wanted]
    found = _without_talk(found)
    latin = [each for each in found if is_mostly_latin(each.text)]
    if latin and is_mostly_latin("".join(each.text for each in found)):
        return latin
    modern = [each for each in found if not _is_classical(each.text)]
    if modern and len(modern) < len(found) and _size(modern) * 2 >= _size(found):
        return modern
    return found


def without_original(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that may be a translation: not under the labels of others, nor an original."""
    usable = [each for each in pieces if each.kind not in _OTHERS]
    if all(each.kind in {"remark", "aside"} for each in usable):
        first = next((each.paragraph for each in pieces if each.kind in _OTHERS), 0)
        usable = [
            each._replace(kind="plain") for each in pieces
            if each.kind in _OTHERS and each.paragraph > first and not _is_classical(each.text)
        ]  # fmt: skip
    read = [each for each in usable if each.kind == "reading"]
    if read and all(map(_is_classical, (each.text for each in read))):
        others = [each for each in usable if each.kind != "reading"]
        return others if any(not _is_talk(each.text) for each in others) else usable
    return usable


def _is_classical(text: str) -> bool:
    flat = fold(text)
    han = count_han(flat)
    modern = len(wording("passages", "vernacular").findall(flat))
    return han >= 4 and modern < 0.04 * han
