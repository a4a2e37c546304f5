"""Lists of names: the texts between separators, without labels, numbers, types and glosses."""

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
_DEEPEST = 6
_LONGEST = 20_000
"""Characters of a list of names; the longest page has fewer."""


def read(answer: Answer) -> Reading:  # noqa: PLR0911  each notation returns
    """The names that the response lists, joined by 、."""
    if len(answer.body) > _LONGEST:
        return unclear("long")
    if answer.json is not None:
        names = _json_names(answer.json, 0)
        return _reading(names, "field", answer.body) if names else unclear("field")
    if "|" in answer.body:
        names = _table_names(answer.body)
        return _reading(names, "table", answer.body) if names else unclear("table")
    pieces, notes = _pieces(behind_last("revision", answer.field or answer.body))
    if any(has("refusal no_names", fold(plain(piece))) for piece in pieces):
        return unclear("refusal")
    lists = [_names(piece) for piece in pieces]
    start = max((at + 1 for at, names in enumerate(lists) if names is None), default=0)
    names = [name for line in lists[start:] for name in line or ()]
    if (
        names
        and start
        and not notes
        and len(lists) - start == 1
        and "、" in pieces[-1]
        and len(names) > 2
    ):
        # A list on the last line concludes what was said before.
        return _reading(names, "last line", pieces[-1])
    if not names or any(lists[:start]) or has("more_names", notes):
        return unclear("mixed" if names else "silent")
    prose_before = start and (len(names) < 2 or not ("、" in pieces[-1] or len(lists) - start > 1))
    if prose_before or (len(names) == 1 and len(names[0]) > 8):
        return unclear("sentence")
    return _reading(names, "list", "\n".join(pieces[start:]))


def _reading(names: list[str], rule: str, text: str) -> Reading:
    return Reading("read", "、".join(names), rule, text[:200])


def _is_kind(text: str) -> bool:
    """Whether a text labels a kind of names, or names as such (人名, Places, 实体)."""
    label = fold(plain(text)).strip(EDGES + "()")
    return words("name_kind").fullmatch(label) is not None


def _json_names(value: object, depth: int) -> list[str] | None:
    """The names of a JSON list, of objects with a name, or of lists by kind; else None."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        lists = [
            _json_names(part, depth + 1) for part in value.values() if isinstance(part, list | dict)
        ]
        if None in lists:
            return None
        return [name for names in lists for name in names or ()]
    names = []
    for part in value if isinstance(value, list) else ():
        keys = [key for key in _NAME_KEYS if isinstance(part, dict) and key in part]
        names.append(part[keys[0]] if keys else part)
    return names if all(isinstance(name, str) for name in names) else None


def _table_names(body: str) -> list[str] | None:
    """The names in the column of a Markdown table that its head calls names; else None."""
    rows = [
        [cell.strip(EDGES) for cell in line.strip().strip("|").split("|")]
        for line in map(plain, body.split("\n"))
        if line.count("|") > 1 and not re.fullmatch(r"[\s|:\-]+", line)
    ]
    head = [fold(cell).lower() for cell in rows[0]] if rows else []
    columns = [at for at, cell in enumerate(head) if words("name_column").fullmatch(cell)]
    if len(columns) != 1 or any(len(row) != len(head) for row in rows):
        return None
    cells = [_GLOSS.sub("", row[columns[0]]) for row in rows[1:]]
    names = [name.strip(EDGES) for cell in cells for name in _SEPARATOR.split(cell)]
    return names if names and all(name and _is_name(name) for name in names) else None


def _pieces(body: str) -> tuple[list[str], str]:
    """The lines and sentences that may list names, and the notes that follow them."""
    listing: list[str] = []
    pieces = [piece for piece in _PIECE.split(body) if plain(piece).strip(EDGES)]
    for at, piece in enumerate(pieces):
        if listing and words("names_note").match(fold(plain(piece))):
            return listing, fold("".join(pieces[at:]))
        head = _GLOSS.sub("", _NUMBER.sub("", _BULLET.sub("", plain(piece))))
        if not _is_kind(head) and not words("names_head").fullmatch(fold(head)):
            listing.append(piece)
    return listing, ""


def _names(piece: str) -> list[str] | None:
    """The names that a line lists; None where it is not a list of names."""
    is_numbered, line = bool(_NUMBER.match(plain(piece))), _BULLET.sub("", plain(piece))
    line = _GLOSS.sub("", _NUMBER.sub("", line)).rstrip("。.；; ")
    label, colon, behind = line.replace("：", ":", 1).partition(":")
    label = label.strip("* ")
    if colon and behind.strip() and (_is_kind(label) or has("names_lead", fold(label))):
        line = behind
    elif colon:
        is_explained = is_numbered or (_BULLET.match(piece) and len(behind) > 4)
        if "、" in behind or not is_explained:
            return None
        line = label
    lead = None if colon else words("names_begin").match(fold(line))
    line = line[lead.end() :] if lead else line
    parts = [part.strip(EDGES) for part in _SEPARATOR.split(_EXPLAINED.sub("", line))]
    parts = [part for part in parts if part]
    if len(parts) > 1 and _LAST.search(parts[-1]):
        if not (lead or colon):
            return None
        parts[-1:] = [part.strip(EDGES) for part in _LAST.split(parts[-1]) if part.strip(EDGES)]
    is_short = not count_han(line) or sum(map(len, parts)) <= 3.2 * len(parts)
    is_list = "、" in line or is_numbered or len(parts) < 2 or is_short
    if line.count("、") > 2 and max(map(len, parts)) <= 6:
        return parts  # A name of a long list may look like a remark (有熊).
    return parts if parts and is_list and all(map(_is_name, parts)) else None


def _is_name(name: str) -> bool:
    """Whether a text may be a name: short, and without the words of a sentence or of a label."""
    if not count_han(name):
        capitals = r"[A-ZÀ-Þ][\w'’-]*(?:\s(?:of|the|in|[A-ZÀ-Þ][\w'’-]*)){0,5}"
        return re.fullmatch(capitals, name) is not None and not _is_kind(name)
    is_mixed = re.search(r"[A-Za-z]", name) is not None
    return not is_mixed and len(name) <= 9 and not _is_kind(name) and not has("no_name", fold(name))
