"""`report_lost_text`: compares all text of a page file with the text that its reader took."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lxml import etree

from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.xml_parsing import name_of

TextPart = tuple[etree._Element, str]
"""An element, and the text that it has itself."""


def report_lost_text(
    parts: Iterable[TextPart], taken: Mapping[etree._Element, str], file: Path
) -> None:
    """Record in the log of the import which text of a file is not in its lines.

    Files give the same text at several levels, and are corrected at one of them. The text of
    another level is therefore lost only where it has more characters than the lines inside or
    around it, or mostly different ones. White space is not compared.

    Args:
        parts: all texts of the file, without alternative readings.
        taken: the text of the lines, by the elements that they are from.
        file: the file.
    """
    taken = {element: text for element, text in taken.items() if text.strip()}
    groups = defaultdict[TextPart, list[TextPart]](list)
    for element, text in parts:
        if element not in taken and text.strip():
            outer = (ancestor for ancestor in element.iterancestors() if ancestor in taken)
            groups[next(outer, element), name_of(element)].append((element, text))
    for (element, _level), group in groups.items():
        lines = taken.get(element) or "".join(taken.get(inner, "") for inner in element.iter())
        if missing := _missing("\n".join(text for _element, text in group), lines):
            rows = [(part, row) for part, text in group for row in text.splitlines() if row.strip()]
            # The rows that were taken are not an example of the lost text.
            part, row = next((pair for pair in rows if _missing(pair[1], lines)), rows[0])
            import_log().lost(file, _place_of(part), row, missing)


def text_nodes(root: etree._Element, outside: Iterable[str] = ()) -> Iterator[TextPart]:
    """The text nodes below an element, except in elements of the names `outside`."""
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if name_of(element) in outside:
            walk.skip_subtree()
            continue
        text = "".join(filter(None, [element.text, *(child.tail for child in element)]))
        yield element, text


def _missing(text: str, taken: str) -> int:
    """How many characters of a text were not taken; 0 for another reading of the taken text."""
    wanted, found = _characters(text), _characters(taken)
    missing, others = (wanted - found).total(), (found - wanted).total()
    return missing if missing > others or 2 * missing > wanted.total() else 0


def _characters(text: str) -> Counter[str]:
    return Counter("".join(unicodedata.normalize("NFC", text).split()))


def _place_of(element: etree._Element) -> str:
    """The class (hOCR) or name of an element and its id, or that of the nearest one around it."""
    classes = element.get("class", "").split()
    kind = next((name for name in classes if name.startswith("ocr")), name_of(element))
    for each in (element, *element.iterancestors()):
        if name := each.get("id") or each.get("ID"):
            return f"{kind} {name}" if each is element else f"{kind} in {name}"
    return kind
