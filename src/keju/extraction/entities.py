"""Lists of names: what stands between separators, without labels, numbers, types and glosses."""

from __future__ import annotations

import re

from keju.extraction.answer import EDGES, Answer, Reading, behind_last, plain, unclear
from keju.extraction.words import fold, has, words
from keju.text import count_han

_NUMBER = re.compile(r"^\s*(?:\(?\d{1,3}[).．、]|[①-⑳])\s*")
_BULLET = re.compile(r"^\s*[-*•·]\s*")
_GLOSS = re.compile(r"\s*[(（\[【〔][^()（）\[\]【】〔〕]*[)）\]】〕]")
_EXPLAINED = re.compile(r"\s*(?:—+|–|--|\s-\s|→|=).*$")
_SEPARATOR = re.compile(r"[、，,；;\n\t|/]|》\s*《|”\s*“|\s{2,}|\u3000")
_LAST = re.compile(r"\s*(?:和|与|以及|及|\band\b)\s*")
_PIECE = re.compile(r"\n|(?<=[。；;])(?![^（(]*[）)])")
_NAME_KEYS = ("entity", "name", "text", "word", "mention", "value", "实体", "名称", "词", "内容")


def read(answer: Answer) -> Reading:
    """The names that the response lists, joined by 、."""
    if answer.json is not None:
        named = _json_names(answer.json)
        return Reading("read", "、".join(named), "field") if named else unclear("field")
    if "|" in answer.body:
        return unclear("table")
    kept, notes = _statements(behind_last("revision", answer.field or answer.body))
    if any(has("refusal no_names", fold(plain(each))) for each in kept):
        return unclear("refusal")
    lists = [_names(each) for each in kept]
    start = max((at + 1 for at, each in enumerate(lists) if each is None), default=0)
    names = [name for each in lists[start:] for name in each or ()]
    if not names or any(lists[:start]) or has("more_names", notes):
        return unclear("mixed" if names else "silent")
    prose_before = start and (len(names) < 2 or not ("、" in kept[-1] or len(lists) - start > 1))
    if prose_before or (len(names) == 1 and len(names[0]) > 8):
        return unclear("sentence")
    return Reading("read", "、".join(names), "list")


def _is_kind(text: str) -> bool:
    """Whether a text labels a kind of names, or names as such (人名, Places, 实体)."""
    label = fold(plain(text)).strip(EDGES + "()")
    return words("name_kind").fullmatch(label) is not None


def _json_names(found: object) -> list[str] | None:
    """The names of a JSON list, of objects with a name, or of lists by kind; else None."""
    if isinstance(found, dict):
        several = {str(key): each for key, each in found.items() if isinstance(each, list | dict)}
        if len(several) > 1 and not all(map(_is_kind, several)):
            return None
        lists = [_json_names(each) for each in several.values()]
        return None if None in lists else [name for each in lists for name in each or ()]
    names = []
    for each in found if isinstance(found, list) else ():
        keys = [key for key in _NAME_KEYS if isinstance(each, dict) and key in each]
        names.append(each[keys[0]] if keys else each)
    return names if all(isinstance(each, str) for each in names) else None


def _statements(body: str) -> tuple[list[str], str]:
    """The lines and sentences that may list names, and the notes that follow them."""
    kept: list[str] = []
    pieces = [piece for piece in _PIECE.split(body) if plain(piece).strip(EDGES)]
    for at, piece in enumerate(pieces):
        if kept and words("names_note").match(fold(plain(piece))):
            return kept, fold("".join(pieces[at:]))
        head = _GLOSS.sub("", _NUMBER.sub("", _BULLET.sub("", plain(piece))))
        if not _is_kind(head) and not words("names_head").fullmatch(fold(head)):
            kept.append(piece)
    return kept, ""


def _names(piece: str) -> list[str] | None:
    """The names that a line lists; None where it is not a list of names."""
    numbered, line = bool(_NUMBER.match(plain(piece))), _BULLET.sub("", plain(piece))
    line = _GLOSS.sub("", _NUMBER.sub("", line)).rstrip("。.；; ")
    label, colon, rest = line.replace("：", ":", 1).partition(":")
    if colon and rest.strip() and (_is_kind(label) or has("names_lead", fold(label))):
        line = rest
    elif colon:
        explained = numbered or (_BULLET.match(piece) and len(rest) > 4)
        if "、" in rest or not explained:
            return None
        line = label
    lead = None if colon else words("names_begin").match(fold(line))
    line = line[lead.end() :] if lead else line
    parts = [part.strip(EDGES) for part in _SEPARATOR.split(_EXPLAINED.sub("", line))]
    parts = [part for part in parts if part]
    if len(parts) > 1 and _LAST.search(parts[-1]):
        if not (lead or colon):
            return None
        parts[-1:] = [each.strip(EDGES) for each in _LAST.split(parts[-1]) if each.strip(EDGES)]
    short = not count_han(line) or sum(map(len, parts)) <= 3.2 * len(parts)
    listed = "、" in line or numbered or len(parts) < 2 or short
    return parts if parts and listed and all(map(_is_name, parts)) else None


def _is_name(name: str) -> bool:
    """Whether a text may be a name: short, and without the words of a sentence or of a label."""
    if not count_han(name):
        capitals = r"[A-ZÀ-Þ][\w'’-]*(?:\s(?:of|the|in|[A-ZÀ-Þ][\w'’-]*)){0,5}"
        return re.fullmatch(capitals, name) is not None and not _is_kind(name)
    mixed = re.search(r"[A-Za-z]", name) is not None
    return not mixed and len(name) <= 9 and not _is_kind(name) and not has("no_name", fold(name))
