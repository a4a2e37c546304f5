"""PAGE-XML that keju exports, validated, read, converted and written again by OCR-D's programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.contract_pages import exported, lines_read
from tests.support.contracting import Contract, Exchanged, compared

SCRIPT = Path(__file__).with_name("in_ocrd.py")
KEPT = ("kinds.xml", "rows.xml", "hostile.xml", "lunyu-t1.xml")


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Validation, reading, conversion to ALTO, texts for evaluation."""
    folder = exported(contract, "page-xml")
    exported(contract, "alto")
    pages = json.loads(contract.call(contract.python, SCRIPT, folder, "again"))
    yield from _read(contract, pages)
    yield from _written(contract)
    yield from _converted(contract)
    yield from _extracted(contract)


def _read(contract: Contract, pages: dict[str, dict]) -> Iterator[Exchanged]:
    yield compared(
        "files valid by OCR-D's schema and by its strict validation of texts and coordinates",
        {},
        {name: page["problems"] for name, page in pages.items() if page["problems"]},
        f"{len(pages)} files",
    )
    ours = lines_read("page-xml", contract.work / "page-xml")
    yield compared(
        "text, outline and order of the lines",
        ours,
        {name: page["lines"] for name, page in pages.items()},
        f"{sum(map(len, ours.values()))} lines of {len(ours)} pages",
    )
    yield compared(
        "a text without places is the text of a region",
        ["天地玄黃\n宇宙洪荒"],
        pages["no-places.xml"]["regions"],
    )


def _written(contract: Contract) -> Iterator[Exchanged]:
    ours = lines_read("page-xml", contract.work / "page-xml", placed=False)
    again = lines_read("page-xml", contract.work / "again", placed=False)
    yield compared("written again by OCR-D, read by keju", ours, again)
    for name in KEPT:
        contract.keep(f"page-xml/{name}", (contract.work / "again" / name).read_bytes())
    contract.keep("page-xml.json", {name: ours[name] for name in KEPT})


def _converted(contract: Contract) -> Iterator[Exchanged]:
    """page-to-alto; it gives the outline of the whole page to a text without places."""
    folder = contract.work / "converted"
    folder.mkdir()
    program = contract.python.parent / "page-to-alto"
    options = ("--no-check-words", "--no-check-border", "--dummy-word", "--region-order",
               "reading-order")  # fmt: skip
    for file in sorted((contract.work / "page-xml").glob("*.xml")):
        contract.call(program, *options, "-O", folder / file.name, file)
    (folder / "no-places.xml").unlink()
    ours = lines_read("page-xml", contract.work / "page-xml")
    del ours["no-places.xml"]
    yield compared("page-to-alto: its ALTO, read by keju", ours, lines_read("alto", folder))
    for name in KEPT:
        contract.keep(f"alto/{name}", (folder / name).read_bytes())
    contract.keep("alto.json", {name: ours[name] for name in KEPT})


def _extracted(contract: Contract) -> Iterator[Exchanged]:
    """The text that dinglehopper evaluates, by form; it reads whole regions of PAGE-XML."""
    program = contract.python.parent / "dinglehopper-extract"
    for form in ("page-xml", "alto"):
        lines = lines_read(form, contract.work / form, placed=False)
        said = {name: contract.call(program, contract.work / form / name) for name in KEPT}
        ours = {name: "\n".join(str(line["text"]) for line in lines[name]) for name in KEPT}
        yield compared(
            f"dinglehopper: text of {form}",
            ours,
            {name: text.strip("\n") for name, text in said.items()},
        )
