"""Mutations of XML (PAGE, ALTO, Pascal VOC): entities, namespaces, elements, attributes, texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.support.mutations.values import CELLS, TOKENS

_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?(?:/>|>[^<>]*</\1>)")
_ATTRIBUTE = re.compile(r'\s([A-Za-z][\w:.-]*)="([^"<>]*)"')
_TEXT = re.compile(r">([^<>]*[^<>\s][^<>]*)<")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ROOT = re.compile(r"<[A-Za-z][^<>]*>")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def _swapped(text: str, match: re.Match[str] | None, new: str, group: int = 0) -> str | None:
    return None if match is None else text[: match.start(group)] + new + text[match.end(group) :]


def _drawn(pattern: re.Pattern[str], text: str, draw: Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return draw.choice(found) if found else None


def _entities(text: str, draw: Random) -> str | None:
    """Entities: nested ones that swell, files, undefined and parameter ones."""
    nested = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    kinds = (
        (f'<!DOCTYPE x [<!ENTITY e0 "ha">{nested}]>', "&e11;"),
        ('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', "&e;"),
        ('<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1:9/x">]>', "&e;"),
        ('<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>', ""),
        ('<!DOCTYPE x [<!ENTITY e "&e;">]>', "&e;"),
        ('<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">', ""),
        ("", "&undefined;"),
        ("", "&#0;"),
        ("", "&#xD800;"),
    )
    head, use = draw.choice(kinds)
    changed = _swapped(text, _drawn(_TEXT, text, draw), use, 1) if use else text
    body = re.sub(r"^\s*<\?xml[^>]*\?>", "", changed or text)
    return head + body


def _namespace(text: str, draw: Random) -> str | None:
    match draw.randrange(4):
        case 0:
            return re.sub(r'\sxmlns="[^"]*"', "", text)
        case 1:
            return re.sub(r'\sxmlns="[^"]*"', ' xmlns="urn:other"', text)
        case 2:
            return _swapped(text, _drawn(_TAG, text, draw), '<p:x xmlns:p="urn:p">')
        case _:
            return re.sub(r"<(/?)([A-Za-z])", r"<\1p:\2", text)


def _element(text: str, draw: Random) -> str | None:
    found = _drawn(_ELEMENT, text, draw)
    if found is None:
        return None
    copies = ("", found[0] * 2, found[0] * 500, f"<x>{found[0]}</x>", f"<!-- {found[1]} -->")
    return _swapped(text, found, draw.choice(copies))


def _rename(text: str, draw: Random) -> str | None:
    found = _drawn(_ELEMENT, text, draw)
    if found is None:
        return None
    name = draw.choice((found[1].upper(), found[1].lower(), f"{found[1]}2", "x"))
    return re.sub(rf"(</?){re.escape(found[1])}(?=[\s/>])", rf"\1{name}", text)


def _attribute(text: str, draw: Random) -> str | None:
    found = _drawn(_ATTRIBUTE, text, draw)
    if found is None:
        return None
    value = draw.choice([*TOKENS, *CELLS])
    safe = re.sub('[<>&"\0-\x08\x0b-\x1f]', "", value)
    forms = ("", f' {found[1]}="{safe}"', f" {found[1]}='{found[2]}", f"{found[0]}{found[0]}")
    return _swapped(text, found, draw.choice((forms[1], forms[1], *forms)))


def _number(text: str, draw: Random) -> str | None:
    head = _ROOT.search(text)
    start = head.end() if head else 0
    found = list(_NUMBER.finditer(text, start))
    new = re.sub("[<>&\0]", "", draw.choice(TOKENS))
    return _swapped(text, draw.choice(found), new) if found else None


def _text(text: str, draw: Random) -> str | None:
    new = draw.choice((*(re.sub("[<>&\0-\x08\x0b-\x1f]", "", cell) for cell in CELLS),
                       "<![CDATA[<b>]]>", "<!-- x -->", "<?pi x?>", "<b>x</b>"))  # fmt: skip
    return _swapped(text, _drawn(_TEXT, text, draw), new, 1)


def _tag(text: str, draw: Random) -> str | None:
    return _swapped(text, _drawn(_TAG, text, draw), draw.choice(("", "<", "</x>", "<x>", "<x/>")))


def _swell(text: str, draw: Random) -> str | None:
    """Absurd sizes: elements nested deeply, many attributes, a long list of points."""
    found = _drawn(_TEXT, text, draw)
    points = " ".join(f"{n},{n % 77}" for n in range(20_000))
    match draw.randrange(3):
        case 0:
            depth = draw.choice((200, 20_000))
            return _swapped(text, found, "<x>" * depth + "</x>" * depth, 1)
        case 1:
            many = "".join(f' a{n}="1"' for n in range(20_000))
            root = _ROOT.search(text)
            return _swapped(text, root, root[0].rstrip("/>") + many + ">") if root else None
        case _:
            return re.sub(r'points="[^"]*"', f'points="{points}"', text, count=1)


def _declared(text: str, draw: Random) -> str | None:
    name = draw.choice(("UTF-16", "GB18030", "ascii", "x-none", "UTF-7", "ISO-2022-JP", ""))
    body = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    return f'<?xml version="{draw.choice(("1.0", "1.1", "9"))}" encoding="{name}"?>{body}'


CHANGES: dict[str, Callable[[str, Random], str | None]] = {
    "XML entities": _entities,
    "XML namespace changed": _namespace,
    "XML element lost or repeated": _element,
    "XML element renamed": _rename,
    "XML attribute changed": _attribute,
    "XML number replaced": _number,
    "XML text replaced": _text,
    "XML tag lost or added": _tag,
    "XML of absurd size": _swell,
    "XML declares another encoding": _declared,
}


def _on_file(change: Callable[[str, Random], str | None]) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        try:
            changed = change(path.read_text("utf-8-sig"), draw)
        except (ValueError, OSError):
            return False
        if changed is None:
            return False
        path.write_bytes(changed.encode("utf-8", "surrogatepass"))
        return True

    return mutate


MUTATIONS = {name: _on_file(change) for name, change in CHANGES.items()}
