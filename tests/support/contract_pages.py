"""Pages that are exported for other programs, and what keju itself reads of them."""

from __future__ import annotations

from pathlib import Path

from keju.datasets.mini import path as mini
from keju.datasets.readers.pages.page_xml import read_page
from tests.support.commanding import keju
from tests.support.contract_trial import run
from tests.support.contracting import Contract
from tests.support.exported_pages import column, item, made_run, response

FORMS = ("page-xml", "alto")

Lines = list[dict[str, object]]

_ROW = ((10, 20), (210, 24), (209, 44), (9, 40))


def made(folder: Path) -> Path:
    """A run with every kind of line, a row, text without places, and an empty page."""
    kinds = ("main", "note", "title", "centre", "head", "number", "seal")
    by_kind = [column(kind, f"{kind}之文", 380 - 30 * at, kind=kind)
               for at, kind in enumerate(kinds)]  # fmt: skip
    hostile = column("1", "<b>天</b> & \"地\" ]]> '𠀀'"), column("2", "天\x00地", 200)
    said = [
        response("kinds", "天", *by_kind),
        response("rows", "天", column("1", "天地玄黃", polygon=_ROW), column("2", "宇宙洪荒")),
        response("hostile", "天", *hostile),
        response("no-places", "天地玄黃\n宇宙洪荒"),
        response("nothing"),
    ]
    return made_run(folder, [item(each.item) for each in said], said)


def exported(contract: Contract, form: str) -> str:
    """Export what ppocr reads of the bundled set, and the made pages; the folder within `work`.

    Raises:
        RuntimeError: an export fails.
    """
    out = contract.work / form
    out.mkdir()
    read = contract.work / "read"
    if not read.exists():
        run(mini(), read, "ppocr", "--task", "T1", "--task", "page_level_ocr", "--limit", 2)
        made(contract.work / "made")
    for source in ("read", "made"):
        part = contract.work / f"{form}-{source}"
        images = ["--images"] if source == "read" else []
        done = keju("export", form, contract.work / source, "-o", part, *images)
        if done.returncode:
            raise RuntimeError(done.stderr)
        for file in part.iterdir():
            if file.suffix != ".csv":
                file.replace(out / file.name)
    return form


def lines_read(form: str, folder: Path, *, placed: bool = True) -> dict[str, Lines]:
    """Text and outline of each line by keju's reader, by file; with `placed` those with a place."""
    return {
        file.name: [
            {"text": line.text, "outline": [list(map(int, point)) for point in line.polygon]}
            for line in read_page(file).lines
            if line.polygon or not placed
        ]
        for file in sorted(folder.glob("*.xml"))
    }
