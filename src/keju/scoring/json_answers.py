"""Answers in JSON: one value, a passage of text, or a list of names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

from keju.scoring.extraction import Extracted, json_text, json_value
from keju.scoring.wordings import alternatives, fold, wording

_DEEPEST = 4
_LABELLED = re.compile(
    r"[\s\-*•·#>0-9.]{0,8}(?P<label>[^：:\n*]{1,16})\*{0,2}\s?[：:]\s?\*{0,2}\s?(?P<value>[^\n：:]{1,40}?)\*{0,2}\s?"
)
_FEWEST_LABELS, _MOST_OTHERS = 2, 1
_TABLE_ROW = re.compile(r"^[ \t]*\|(?P<row>[^\n]{1,400})\|[ \t]*$", re.MULTILINE)
_ONE_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(?P<inside>[^`]*)\n?[ \t]*```")
_ONE_OBJECT = re.compile(r"(?:^|[。.!！：:]|(?<=\n))\s*(\{[^{}\n]{2,400}\})", re.MULTILINE)
_OBJECT_WITHIN = re.compile(r"\{\s{0,8}\"[^\"{}\n]{1,30}\"\s?:[^{}]{1,20000}\}")
_BROKEN = re.compile(
    r"\"(?P<key>[A-Za-z_\u4e00-\u9fff]{1,30})\"\s{0,4}:\s{0,4}\"(?P<value>[^\"\\]*(?:\\.[^\"\\]*)*)\"",
    re.DOTALL,
)


def json_passage(body: str, form: str) -> Extracted | None:
    """The text in a body that is JSON, under the key that fits the form; None where it is not."""
    for text in _candidates(body):
        value = json_value(text)
        if value is not None:
            found = json_text(text) if not isinstance(value, dict) else None
            said = found.answer if found else _under_key(value, form, 0)
            if said is not None and said.strip():
                return Extracted(said, "JSON text", body)
        elif text.lstrip().startswith("{") and "}" in text:
            said = _broken(text, form)
            if said:
                return Extracted(said, "JSON text", body)
    return None


def json_phrase(body: str, question: str, *, number: bool = False) -> Extracted | None:
    """The value in a JSON object that answers a question, or None where that is not clear.

    The key is one for answers, or occurs in the question; else the object has only one value
    besides those for reasons, sources and notes.

    Args:
        body: the response.
        question: the question.
        number: whether only numbers answer it.
    """
    asks_meaning = wording("short", "asks_meaning").search(fold(question))
    for text in _candidates(body):
        value = json_value(text)
        if not isinstance(value, dict):
            continue
        left = {
            str(key): each for key, each in value.items()
            if isinstance(each, int | float if number else str | int | float)
            and not _is_key(str(key), "key_other")
        }  # fmt: skip
        meant = [key for key in left if asks_meaning and _is_key(key, "key_meaning")]
        answers = [key for key in left if _is_key(key, "key_answer")]
        asked = [key for key in left if _is_asked(key, question)]
        if key := next(
            (keys[0] for keys in (meant, answers, asked, [*left]) if len(keys) == 1), ""
        ):
            return Extracted(str(left[key]), f"JSON key {key!r}", body)
    return None


def labelled_phrase(body: str, question: str) -> Extracted | None:
    """The value in lines of labels (器名：四羊方尊) under the label that a question asks for."""
    if row := _row_of_table(body, question):
        return Extracted(row[1], f"row {row[0]!r}", body)
    lines = [line for line in body.splitlines() if line.strip()]
    if (
        len(lines) == 1
        and not re.search("[（(]", body)
        and len(parts := re.split("[；;]", lines[0])) > 1
    ):
        lines = [each for each in parts if each.strip()]
    found = [match for line in lines if (match := _LABELLED.fullmatch(line))]
    if len(found) < _FEWEST_LABELS or len(found) < len(lines) - _MOST_OTHERS:
        return None
    left = {each["label"].strip(): each["value"] for each in found}
    asks_meaning = wording("short", "asks_meaning").search(fold(question))
    meant = [key for key in left if asks_meaning and _is_key(key, "key_meaning")]
    asked = meant or [key for key in left if _is_asked(key, question)]
    if len(asked) > 1 and all(key in question for key in asked):
        asked = [min(asked, key=question.index)]
    if len(asked) != 1 or wording("discourse", "correction").search(fold(body)):
        return None
    return Extracted(left[asked[0]], f"label {asked[0]!r}", body)


def _row_of_table(body: str, question: str) -> tuple[str, str] | None:
    """The label and value of a table of labels and values that a question asks for."""
    rows = [
        [cell.strip(" *`") for cell in found["row"].split("|")]
        for found in _TABLE_ROW.finditer(body)
    ]
    rows = [row for row in rows if not set("".join(row)) <= set("-: ")]
    if len(rows) < _FEWEST_LABELS or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return None
    columns = [*zip(*rows, strict=True)]
    asked_column = _is_asked(rows[0][0], question) or _is_asked(rows[0][1], question)
    if len(rows) > 2 and (len(columns) > 2 or asked_column):
        return None
    pairs = columns if len(rows) == 2 else [(row[0], row[1]) for row in rows]
    left = {label: value for label, value in pairs if label and value}
    for keys in (
        [key for key in left if _is_key(key, "key_answer")],
        [key for key in left if _is_asked(key, question)],
        _most_shared([*left], fold(question)),
    ):
        if len(keys) == 1:
            return keys[0], left[keys[0]]
    return None


def _most_shared(labels: list[str], asked: str) -> list[str]:
    """The labels that share most pairs of characters with a question, at least two."""
    shared = {each: sum(fold(each)[at : at + 2] in asked for at in range(len(each) - 1))
              for each in labels}  # fmt: skip
    most = max(shared.values(), default=0)
    return [each for each in labels if shared[each] == most >= 2]


def _is_key(key: str, name: str) -> bool:
    return wording("short", name).fullmatch(fold(key).replace(" ", "_")) is not None


def _is_asked(key: str, question: str) -> bool:
    plain, asked = fold(key).replace("_", " "), fold(question)
    return plain in asked or any(
        re.fullmatch(key_pattern, plain) and re.search(word, asked)
        for key_pattern, word in zip(
            alternatives("short", "named"), alternatives("short", "named_in_question"), strict=True
        )
    )


def _candidates(body: str) -> Iterator[str]:
    yield body
    core = body.lstrip()
    if core.startswith("{") and not core.rstrip().endswith("}"):
        try:
            _, end = json.JSONDecoder().raw_decode(core)
            yield core[:end]
        except (ValueError, RecursionError):
            pass
    inner = _ONE_OBJECT.findall(body) if body.count("{") == 1 else []
    if inner and inner[0] != core.rstrip():
        yield inner[0]
    fences = list(_ONE_FENCE.finditer(body)) if "```" in body else []
    if len(fences) == 1:
        yield fences[0]["inside"]
    elif len(within := _OBJECT_WITHIN.findall(body)) == 1:
        yield within[0]


def _under_key(value: object, form: str, depth: int) -> str | None:
    if depth > _DEEPEST or not isinstance(value, dict):
        return _lines(value)
    keys = sorted((place, key) for key in value if (place := _place(str(key), form)) is not None)
    for _, key in keys:
        said = _under_key(value[key], form, depth + 1)
        if said is not None:
            return said
    if len(value) == 1:
        return _under_key(next(iter(value.values())), form, depth + 1)
    return None


def _place(key: str, form: str) -> int | None:
    name = fold(key).replace(" ", "_")
    for place, pattern in enumerate(alternatives("labels", f"key_{form}")):
        if re.fullmatch(pattern, name):
            return place
    return None


def _lines(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        parts = [_line(each) for each in value]
        kept = [part for part in parts if part is not None]
        return "\n".join(kept) if len(kept) == len(parts) else None
    return None


def _line(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        said = [
            each
            for key, each in value.items()
            if _place(str(key), "transcription") is not None and isinstance(each, str)
        ]
        return said[0] if said else None
    return None


def _broken(text: str, form: str) -> str:
    """The value in an object that is not JSON because a string has line breaks in it."""
    found = [
        (place, match["value"])
        for match in _BROKEN.finditer(text)
        if (place := _place(match["key"], form)) is not None
    ]
    if not found:
        return ""
    said = min(found)[1]
    try:
        return str(msgspec.json.decode('"' + said.replace("\n", "\\n").replace("\t", "\\t") + '"'))
    except (msgspec.DecodeError, UnicodeError):
        return said
