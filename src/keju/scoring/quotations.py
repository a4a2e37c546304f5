"""The text that a response about an image quotes, or names after words such as "reads"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keju.scoring.blocks import Piece
from keju.scoring.contrast import differs, nearly_same
from keju.scoring.extraction import Extracted
from keju.scoring.remarks import PassageForm, is_denied, is_mostly_latin
from keju.scoring.wordings import fold, wording
from keju.text import count_han, has_han

_QUOTED = re.compile(
    r"“([^“”]{1,2000})”|「([^「」]{1,2000})」|『([^『』]{1,2000})』|\"([^\"\n]{1,2000})\"|‘([^‘’]{1,2000})’"
)
_WORD = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]{2}")
_AROUND = 24
_LONGEST_ADVICE = 2_000
_LONGEST_STATEMENT, _MOST_BREAKS = 160, 1
_HAN = r"\u3400-\u9fff\U00020000-\U0003ffff□"
_BARE_RUN = re.compile(rf"[“「『\"]?([{_HAN}](?:[{_HAN}，、,。；？！ \t\n·]*[{_HAN}])?)[”」』\"]?")
_COLON_WITHIN = re.compile(rf"[{_HAN}][：:]\s*[{_HAN}]")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_SPEECH = re.compile(r"[曰云道言][:,]?\Z")
_QUOTED_OVER_LINES = re.compile(
    r"“([^“”]{4,2000})”|「([^「」]{4,2000})」|『([^『』]{4,2000})』|\"([^\"]{4,2000})\"|‘([^‘’]{4,2000})’"
)
_QUOTED_OR_EMPTY = re.compile(r"[“「『\"]")
_FEWEST_HAN, _MOST_AROUND = 4, 24
_BESIDE = re.compile(r"\s?(?:[、,]|和|与|及|and)?\s?")
_HAN_RUN = re.compile(rf"[{_HAN}][{_HAN}，、,。 ]*")
_EDGES = " \t\r\n*_\u3000\u00a0＊＿"
"""White space and marks of emphasis around a statement, also before widths are folded."""


def quoted_text(pieces: Sequence[Piece], form: PassageForm) -> str | None:
    """The text that remarks quote, or state after "reads"; the last one if one corrects."""
    said = "\n".join(each.text for each in pieces if each.kind == "remark")
    flat = fold(said)
    found = [match for match in _QUOTED.finditer(said) if _reads(flat, match, form)]
    if form == "translation" and wording("discourse", "refusal").search(flat):
        return None
    if found:
        place = recommended_version(pieces, [""] * len(found)) if form == "translation" else None
        if place is not None and place < len(found):
            return _inside(found[place])
        after = [m for m in found if _corrected(flat, found[0].end(), m.start())]
        if after:
            return _inside(after[-1])
        parts = [
            m
            for m in found
            if wording("labels", "place", r"{}[^“”\"「」]{0,6}$").search(
                flat[max(0, m.start() - 30) : m.start()]
            )
        ]
        return "\n".join(map(_inside, parts)) if len(parts) > 1 else _inside(found[0])
    return _stated(said, flat) if form != "translation" else None


def stated_quotation(inside: str) -> str | None:
    """The text in a response of a few sentences that say what the image reads, and quote it.

    What is quoted side by side or place by place is one text; after a draft, a correction or a
    conclusion the last quotation is the text. None if the response is not such a statement.
    """
    plain = inside.strip(_EDGES)
    flat = fold(plain)
    if is_mostly_latin(plain) and (run := _only_han_run(flat)):
        return plain[run.start() : run.end()].strip("，、。,. ")
    said = _QUOTED.sub("", flat)
    if len(said) > _LONGEST_STATEMENT or said.count("\n") > _MOST_BREAKS or not _states(flat, said):
        return None
    quoted = [each for each in _QUOTED.finditer(flat) if not _is_other(flat, each)]
    long = any(len(_inside(each)) > 1 for each in quoted)
    found: list[re.Match[str]] = []
    for each in quoted:
        beside = found and _BESIDE.fullmatch(flat, found[-1].end(), each.start())
        placed = _placed(flat, each)
        begins = not each.start() or flat.startswith("字", each.end())
        reads = begins or _reads(flat, each, "transcription") or _commits(flat, each)
        if beside or placed or (reads and not (long and len(_inside(each)) == 1)):
            found.append(each)
    if not found or (len(found) == 1 and _is_spoken_of(quoted, found[0])):
        return None
    first, last = found[0], found[-1]
    if re.search(r":|[为作]\s?\n", flat[last.end() :]) or _corrected(flat, last.end(), len(flat)):
        return None
    between = flat[: first.start()] + "。" + flat[first.end() : last.start()]
    if len(found) > 1 and (
        _corrected(flat, first.end(), last.start())
        or wording("passages", "decides").search(between)
    ):
        found = [last]
    texts = [plain[each.start() + 1 : each.end() - 1].strip() for each in found]
    return "\n".join(dict.fromkeys(texts) if long else texts)


def _long(pattern: re.Pattern[str], body: str) -> list[re.Match[str]]:
    """The matches with some Han characters."""
    return [each for each in pattern.finditer(body) if count_han(_inside(each)) >= _FEWEST_HAN]


def last_reading(body: str, *, bare: bool = False) -> Extracted | None:
    """The last quotation that is not denied, of a response that quotes one text in its readings.

    With `bare`, also the runs of Han characters in a response in another language.

    None where the quotations differ much, or where there is text outside of them. A response that
    denies all that it quotes gives no text.
    """
    runs = _long(_BARE_RUN, body) if bare and len(_LATIN.findall(body)) > 1 else []
    lines = [line for each in runs for line in _inside(each).split("\n") if line.strip()]
    english = (
        runs
        and not _COLON_WITHIN.search(body)
        and not any(differs(line, lines[0]) for line in lines)
    )
    found = runs if english else _long(_QUOTED_OVER_LINES, body)
    if not found or not all(nearly_same(_inside(each), _inside(found[-1])) for each in found):
        return None
    flat = fold(body)
    others = [_inside(each) for each in _QUOTED.finditer(body)]
    if not all(any(other in _inside(each) for each in found) for other in others):
        return None
    if any(_SPEECH.search(flat[: each.start()]) for each in found) or _has_text_outside(
        body, found
    ):
        return None
    left = [each for each in found if not is_denied(flat, each.start(), each.end())]
    if not left:
        return Extracted(None, "all readings are denied", body)
    return Extracted(_inside(left[-1]), "quotation", body)


def _has_text_outside(body: str, found: Sequence[re.Match[str]]) -> bool:
    """Whether a sentence without the quotations, or the words around them, are text of a page."""
    said = body
    for each in reversed(found):
        said = said[: each.start()] + "“”" + said[each.end() :]
    for part in re.split("[。.!！?？\n:：]", said):
        most = _MOST_AROUND if _QUOTED_OR_EMPTY.search(part) else _FEWEST_HAN - 1
        if count_han(part) > most and not differs(part, _inside(found[-1])):
            return True
    return False


def _is_spoken_of(quoted: list[re.Match[str]], found: re.Match[str]) -> bool:
    """Whether a response quotes other texts than the one that it reads, besides parts of it."""
    others = [_inside(each) for each in quoted if each is not found]
    return any(len(each) > 1 and each not in _inside(found) for each in others)


def _states(flat: str, said: str) -> bool:
    """Whether a text says what is on an image, and is not the text of a page with quotations."""
    if wording("passages", "says_what_it_reads").match(flat):
        return True
    if re.search(r"[曰云谓道说]\s?[:,]?\s?[“「『\"‘]", flat):
        return False
    brief = len(said) <= _AROUND or is_mostly_latin(said)
    begins = _QUOTED.match(flat) is not None and brief
    if wording("passages", "says_anywhere").search(flat):
        return True
    return begins or any(wording("passages", name).search(said) for name in ("task", "page"))


def _placed(flat: str, match: re.Match[str]) -> bool:
    """Whether a place on the page comes right before a quotation (下联“…”, 下有小字“…”)."""
    before = flat[max(0, match.start() - _AROUND) : match.start()]
    around = r"(?:^|[,。;:、]){}(?:为|是|作|题|书|有)?$"
    return wording("labels", "place", around).search(before) is not None


def _only_han_run(flat: str) -> re.Match[str] | None:
    """The one run of Han characters in a short English statement of what is read."""
    runs = list(_HAN_RUN.finditer(flat))
    if len(runs) != 1 or len(flat) > _LONGEST_STATEMENT or len(runs[0][0]) < 2:
        return None
    before = flat[: runs[0].start()].rstrip("“「\"' *(")
    return runs[0] if wording("passages", "reads", "{}\\W*$").search(before) else None


def recommended_version(pieces: Sequence[Piece], names: Sequence[str]) -> int | None:
    """The place of the version that the model recommends, if it recommends one."""
    advised = [
        place for place, name in enumerate(names) if wording("passages", "recommend").search(name)
    ]
    if len(advised) == 1:
        return advised[0]
    for each in reversed(pieces):
        if each.kind not in {"remark", "aside", "plain"}:
            continue
        for sentence in re.split(r"[。;\n!]|\. ", fold(each.text)[-_LONGEST_ADVICE:]):
            if not wording("passages", "recommend").search(sentence):
                continue
            for place, order in enumerate(("first", "second", "third")):
                if wording("passages", order).search(sentence):
                    return place
            words = [set(_WORD.findall(name)) for name in names]
            shared = set.intersection(*words)
            named = [
                place for place, own in enumerate(words)
                if any(word in sentence for word in own - shared)
            ]  # fmt: skip
            if len(named) == 1:
                return named[0]
    return None


def _inside(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None).strip()


def _reads(flat: str, match: re.Match[str], form: PassageForm) -> bool:
    before = flat[max(0, match.start() - _AROUND) : match.start()]
    inside = _inside(match)
    if not has_han(inside) and form != "translation":
        return False
    if _is_other(flat, match):
        return False
    return bool(wording("passages", "reads", r"{}$").search(before)) or bool(
        re.search(r"[:：]\s*$", before)
    )


def _is_other(flat: str, match: re.Match[str]) -> bool:
    """Whether a quotation is said to be something else than the text."""
    before = flat[max(0, match.start() - _AROUND) : match.start()]
    return wording("passages", "not_read", r"{}[:,]?\s?[(（]?$").search(before) is not None


def _commits(flat: str, match: re.Match[str]) -> bool:
    before = flat[max(0, match.start() - _AROUND) : match.start()]
    return wording("short", "commits_text", r"{}\W*$").search(before) is not None


def _corrected(flat: str, start: int, end: int) -> bool:
    return bool(wording("discourse", "correction").search(flat[start:end]))


def _stated(said: str, flat: str) -> str | None:
    """The text after "reads" without quotation marks."""
    if not is_mostly_latin(said):
        return None
    for run in re.finditer(r"[\u3400-\u9fff\U00020000-\U0003ffff□，、 。]{2,400}", said):
        before = flat[max(0, run.start() - _AROUND) : run.start()]
        if wording("passages", "reads", r"{}\s*$").search(before):
            return run[0].strip("，、 。")
    return None
