"""`report_lost_text`: compares all text of a page file with the text that its reader took."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.xml_parsing import name_of


class TextPart(NamedTuple):
    """A text in a file, and the element that has it.

    `repeats` means that the text is that of the elements inside once more, as PAGE-XML gives the
    text of a region and those of its lines.
    """

    element: etree._Element
    text: str
    repeats: bool = False


def report_lost_text(
    parts: Iterable[TextPart], taken: Mapping[etree._Element, str], file: Path
) -> None:
    """Record in the log of the import which text of a file is not in its lines.

    Files give the same text at several levels, and are corrected at one of them. The text of
    another level is therefore lost only where it has more characters than the text that was taken,
    or mostly different ones. White space is not compared.

    Args:
        parts: all texts of the file, without alternative readings.
        taken: the text that the reader took from each element.
        file: the file.
    """
    groups: dict[tuple[etree._Element, str], list[TextPart]] = defaultdict(list)
    for part in parts:
        if part.element not in taken and part.text.strip():
            ancestors = (element for element in part.element.iterancestors() if element in taken)
            groups[next(ancestors, part.element), name_of(part.element)].append(part)
    for (element, _level), group in groups.items():
        inside = (taken.get(child, "") for child in element.iter() if group[0].repeats)
        text = taken[element] if element in taken else "".join(inside)
        missing = _missing("\n".join(part.text for part in group), text)
        if missing:
            rows = [(part, row) for part in group for row in part.text.splitlines() if row.strip()]
            # The rows that were taken are not an example of the lost text.
            part, row = next((pair for pair in rows if _missing(pair[1], text)), rows[0])
            import_log().lost(file, _place_of(part.element), row, missing)


def text_nodes(root: etree._Element, outside: Iterable[str] = ()) -> Iterator[TextPart]:
    """The text nodes below an element, except in elements of the names `outside`."""
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if name_of(element) in outside:
            walk.skip_subtree()
            continue
        text = "".join(filter(None, [element.text, *(child.tail for child in element)]))
        if text.strip():
            yield TextPart(element, text)


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
    kind = next((one for one in classes if one.startswith("ocr")), name_of(element))
    for each in (element, *element.iterancestors()):
        if name := each.get("id") or each.get("ID"):
            return f"{kind} {name}" if each is element else f"{kind} in {name}"
    return kind
