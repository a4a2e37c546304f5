"""Mutations of JSON and JSON lines: values, keys, wrappers and the text itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.support.mutations.values import NAMES, NUMBERS, OTHERS, TEXTS

Change = Callable[[Any, Random], Any]

_MANY = 2000
_DEEP = 20_000


def _documents(text: str, *, lines: bool) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()] if lines else [
        json.loads(text)
    ]  # fmt: skip


def _on_value(change: Change) -> Callable[[Path, Random], bool]:
    """A mutation of the parsed value of a file, or of one of its lines."""

    def mutate(path: Path, draw: Random) -> bool:
        lines = path.suffix.casefold() in {".jsonl", ".ndjson"}
        try:
            documents = _documents(path.read_text("utf-8-sig"), lines=lines)
        except (ValueError, OSError):
            return False
        if not documents:
            return False
        at = draw.randrange(len(documents))
        documents[at] = change(documents[at], draw)
        ascii_only = draw.random() < 0.3
        texts = (_dumped(each, ascii_only=ascii_only) for each in documents)
        path.write_bytes("\n".join(texts).encode("utf-8", "surrogatepass"))
        return True

    return mutate


def _dumped(value: Any, *, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)


def _on_text(change: Callable[[str, Random], str]) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        try:
            text = path.read_text("utf-8-sig")
        except (ValueError, OSError):
            return False
        path.write_bytes(change(text, draw).encode("utf-8", "surrogatepass"))
        return True

    return mutate


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value with each of its keys or places."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        inner = each.items() if isinstance(each, dict) else enumerate(each)
        for key, child in list(inner):
            yield each, key
            if isinstance(child, dict | list):
                waiting.append(child)


def _drawn_place(value: Any, draw: Random, kind: type | tuple[type, ...]) -> tuple[Any, Any] | None:
    """A place drawn by its depth first, so that a long list does not draw all to its elements."""
    places = [
        place for place in (_places(value) if isinstance(value, dict | list) else ())
        if isinstance(place[0], kind)
    ]  # fmt: skip
    return draw.choice(places) if places else None


def _replace(value: Any, draw: Random) -> Any:
    new = draw.choice((draw.choice(NAMES), draw.choice(TEXTS), draw.choice(NUMBERS),
                       draw.choice(OTHERS)))  # fmt: skip
    place = _drawn_place(value, draw, (dict, list))
    if place is None:
        return new
    place[0][place[1]] = new
    return value


def _retype(value: Any, draw: Random) -> Any:
    """A value as text, as a list of itself, as an object, or a text as its letters."""
    place = _drawn_place(value, draw, (dict, list))
    if place is None:
        return [value]
    old = place[0][place[1]]
    forms: list[Any] = [str(old), [old], {"value": old}, json.dumps(old), [old, old]]
    if isinstance(old, str):
        forms += [list(old), old.encode().hex(), old * 50, len(old)]
    if isinstance(old, list):
        forms += [{str(n): each for n, each in enumerate(old)}, old[::-1], old[:1], old * 2]
    if isinstance(old, dict):
        forms += [list(old.values()), list(old.items())]
    place[0][place[1]] = draw.choice(forms)
    return value


def _lose_key(value: Any, draw: Random) -> Any:
    if (place := _drawn_place(value, draw, dict)) is None:
        return value
    del place[0][place[1]]
    return value


def _rename_key(value: Any, draw: Random) -> Any:
    if (place := _drawn_place(value, draw, dict)) is None:
        return value
    key = place[1]
    new = draw.choice((key.upper(), key.lower(), f" {key}", f"{key}_2", f"\ufeff{key}", "",
                       key[:-1], "\0", "image", "answer", "id", "Ｉmage", "\ud800",
                       "__class__"))  # fmt: skip
    place[0][new] = place[0].pop(key)
    return value


def _lose_key_everywhere(value: Any, draw: Random) -> Any:
    if (place := _drawn_place(value, draw, dict)) is None:
        return value
    for container, key in list(_places(value)):
        if key == place[1] and isinstance(container, dict):
            container.pop(key, None)
    return value


def _nest_everywhere(value: Any, draw: Random) -> Any:
    """One field of all records in an object or list, or under another name."""
    if (place := _drawn_place(value, draw, dict)) is None:
        return value
    name = str(place[1])
    change = draw.choice((
        lambda cell: {name: {"value": cell}}, lambda cell: {name: [cell]},
        lambda cell: {"data": {name: cell}}, lambda cell: {f"{name}_2": cell},
        lambda cell: {f"x.{name}": cell},
    ))  # fmt: skip
    for container, key in list(_places(value)):
        if key == name and isinstance(container, dict) and key in container:
            container.update(change(container.pop(key)))
    return value


def _equal_everywhere(value: Any, draw: Random) -> Any:
    """One field has the same value in all records: ids, images, tasks."""
    if (place := _drawn_place(value, draw, dict)) is None:
        return value
    for container, key in list(_places(value)):
        if key == place[1] and isinstance(container, dict):
            container[key] = place[0][place[1]]
    return value


def _lists(value: Any, draw: Random) -> list[Any] | None:
    found = [value] if isinstance(value, list) else []
    if isinstance(value, dict | list):
        found += [each[key] for each, key in _places(value) if isinstance(each[key], list)]
    return draw.choice(found) if found else None


def _change_list(value: Any, draw: Random) -> Any:
    found = _lists(value, draw)
    if found is None:
        return value
    match draw.randrange(6):
        case 0:
            found.clear()
        case 1 if found:
            found.insert(draw.randrange(len(found)), found[draw.randrange(len(found))])
        case 2:
            found.insert(draw.randrange(len(found) + 1), draw.choice(OTHERS))
        case 3 if found:
            found.pop(draw.randrange(len(found)))
        case 4:
            found.append(draw.choice(TEXTS))
        case _ if found:
            found.extend(found[:1] * min(_MANY, 200_000 // (1 + len(str(found[0])))))
    return value


def _wrap(value: Any, draw: Random) -> Any:
    return draw.choice((
        {"data": value}, {"items": value, "version": 1}, {"a": {"b": value}}, [value], [[value]],
        json.dumps(value), {"data": value, "rows": value}, {"train": value, "test": value},
        [value, value], {"": value}, {"data": {str(n): value for n in range(3)}}, None, [], {}, 3,
        "text", [[]], {"data": []},
    ))  # fmt: skip


def _twin_key(text: str, draw: Random) -> str:
    """The same key twice in one object."""
    at = text.find("{", draw.randrange(len(text) + 1))
    at = text.find("{") if at < 0 else at
    key = draw.choice(("ID", "id", "image", "Image", "Answer", "answer", "shapes", "images"))
    twice = f'"{key}": {draw.choice(("1", "null", "[]"))}, "{key}": "x", '
    return text if at < 0 else text[: at + 1] + twice + text[at + 1 :]


def _spell(text: str, draw: Random) -> str:
    return draw.choice((
        lambda: text.replace('"', "'"), lambda: text.rstrip()[:-1] + ",]", lambda: f"// x\n{text}",
        lambda: f"{text}\n{text}", lambda: text.replace(":", "=", 1), lambda: f"data = {text};",
        lambda: text.replace("\n", " ").replace("}, {", "}\n{").strip("[] "),
        lambda: text.replace("}, {", "}{"), lambda: f"callback({text})", lambda: text + "\0",
        lambda: "\ufeff\ufeff" + text, lambda: text.replace(",", "，"),
    ))()  # fmt: skip


def _deepen(text: str, draw: Random) -> str:
    inner = draw.choice(("[", '{"a":', '[{"a":'))
    at = draw.choice((0, text.find(":") + 1, text.find("[") + 1))
    depth = draw.choice((50, 990, _DEEP))
    close = "".join({"[": "]", "{": "}"}[sign] for sign in reversed(inner) if sign in "[{")
    closed = "1" + close * depth if draw.random() < 0.7 else ""
    return text[:at] + inner * depth + closed + ("," if at else "") + text[at:]


MUTATIONS = {
    "JSON value replaced": _on_value(_replace),
    "JSON value of another type": _on_value(_retype),
    "JSON key lost": _on_value(_lose_key),
    "JSON key lost everywhere": _on_value(_lose_key_everywhere),
    "JSON key renamed": _on_value(_rename_key),
    "JSON key nested or renamed everywhere": _on_value(_nest_everywhere),
    "JSON value equal everywhere": _on_value(_equal_everywhere),
    "JSON list changed": _on_value(_change_list),
    "JSON wrapped": _on_value(_wrap),
    "JSON key twice": _on_text(_twin_key),
    "JSON misspelled": _on_text(_spell),
    "JSON nested deeply": _on_text(_deepen),
}
