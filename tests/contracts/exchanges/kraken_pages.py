"""PAGE-XML and ALTO that keju exports, read and written again by Kraken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from tests.support.contract_pages import FORMS, exported, lines_read
from tests.support.contracting import Contract, Exchanged, compared

SCRIPT = Path(__file__).with_name("in_kraken.py")
KEPT = ("kinds.xml", "rows.xml", "hostile.xml", "lunyu-t1.xml")


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Both forms."""
    for form in FORMS:
        folder = exported(contract, form)
        said = contract.call(contract.python, SCRIPT, folder, f"again-{form}", form)
        yield from _read(contract, form, json.loads(said))
        yield from _written(contract, form)


def _read(contract: Contract, form: str, pages: dict[str, dict]) -> Iterator[Exchanged]:
    ours = lines_read(form, contract.work / form)
    theirs = {
        name: [{"text": line["text"], "outline": line["outline"]} for line in page["lines"]]
        for name, page in pages.items()
    }
    count = sum(map(len, ours.values()))
    yield compared(
        f"{form}: text, outline and order of the lines with places",
        ours,
        theirs,
        f"{count} lines of {len(ours)} pages",
    )
    yield compared(
        f"{form}: kinds of lines",
        _kinds(form, contract.work / form),
        {name: [line["kind"] for line in page["lines"]] for name, page in pages.items()},
    )
    lines = [line for page in pages.values() for line in page["lines"]]
    yield compared(
        f"{form}: every line has a baseline inside its outline's box",
        [],
        [line["text"] for line in lines if not _inside(line["baseline"], line["outline"])],
        f"{len(lines)} lines",
    )
    yield compared(f"{form}: lines of a text without places", [], pages["no-places.xml"]["lines"],
                   "none: Kraken reads lines with places")  # fmt: skip


def _inside(baseline: list[list[int]], outline: list[list[int]]) -> bool:
    xs, ys = zip(*outline, strict=True)
    inside = all(min(xs) <= x <= max(xs) and min(ys) <= y <= max(ys) for x, y in baseline)
    return len(baseline) == 2 and inside


def _kinds(form: str, folder: Path) -> dict[str, list[str]]:
    """The words for kinds in the files, in the order of the lines with places."""
    found = {}
    for file in sorted(folder.glob("*.xml")):
        lines = etree.parse(file).getroot().iter("{*}TextLine")
        words = (line.get("custom", line.get("TAGREFS", "")) for line in lines
                 if form == "page-xml" or line.get("HPOS"))  # fmt: skip
        found[file.name] = [
            word.removeprefix("structure {type:").removesuffix(";}").removeprefix("kind-")
            for word in words
        ]
    return found


def _written(contract: Contract, form: str) -> Iterator[Exchanged]:
    """What Kraken writes is read by keju."""
    again = contract.work / f"again-{form}"
    ours = lines_read(form, contract.work / form)
    yield compared(f"{form}: written again by Kraken, read by keju", ours, lines_read(form, again))
    for name in KEPT:
        contract.keep(f"{form}/{name}", (again / name).read_bytes())
    contract.keep(f"{form}.json", {name: ours[name] for name in KEPT})
