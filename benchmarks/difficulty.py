"""Whether the difficulty of `typeset` is felt: `ppocr`'s CER over its range.

The lines of four pages of the bundled set are typeset (a clear print, a print with notes, a thin
print, a manuscript) at nine difficulties with the same random numbers, read by the engine and
scored as `keju score` does. The dial holds if the mean begins at 5 % or less, ends at 50 % or
more, and never falls by more than half a percent. Needs the fonts of `typeset`.

    python -m benchmarks.difficulty [--levels 9] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from keju.datasets import mini
from keju.datasets.pages import select_lines
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import PrerequisiteError
from keju.items import Line
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju_synthetic.steps.set_type import PageJob, typeset_page

KINDS = {
    "print": ("mengzi-t1", "song"),
    "notes": ("laozi-t1", "kai"),
    "thin": ("chushibiao-t1", "ming"),
    "manuscript": ("qianziwen-t1", "brush"),
}
"""An item of the bundled set and a typeface for each kind of page."""

EASIEST, HARDEST, SLACK = 0.05, 0.50, 0.005

Curve = dict[float, dict[str, float]]
"""CER by difficulty and kind of page."""


def write_pages(folder: Path, level: float) -> None:
    """Write a dataset of the four pages at a difficulty."""
    items = {item.id: item for item in Dataset.open(mini.path()).items()}
    about = {"name": "dial", "version": "1", "licence": "CC0-1.0", "source": "the bundled set"}
    with DatasetWriter(folder, **about) as writer:
        for kind, (name, typeface) in KINDS.items():
            item = items[name]
            wide, high = item.images[0].width, item.images[0].height
            page = typeset_page(
                PageJob(
                    name=kind, lines=msgspec.json.encode(item.lines), wide=wide, high=high,
                    typeface=typeface, difficulty=level, scan="colour", frames=True, marked=True,
                    pixels=wide * high, quality=80, seed=1905,
                )
            )  # fmt: skip
            lines = tuple(msgspec.json.decode(page.lines, type=list[Line]))
            answer = "\n".join(line.text for line in select_lines(lines, "body"))
            image = writer.add_image(page.data, f"{kind}.jpg")
            writer.add(
                replace(item, id=kind, images=(image,), lines=lines, answer=answer,
                        answer_simplified="", transcription=answer)
            )  # fmt: skip


def measure(folder: Path, level: float) -> dict[str, float]:
    folder.mkdir()
    write_pages(folder / "pages", level)
    run(folder / "pages", ("ppocr",), folder / "run", console=Console(quiet=True))
    return {
        score.item: score.value
        for score in score_run(RunFolder.open(folder / "run"))
        if (score.protocol, score.metric) == ("strict", "CER") and score.value is not None
    }


def shown(curve: Curve) -> Table:
    table = Table("difficulty", *KINDS, "mean", title="CER of ppocr, %")
    for column in table.columns[1:]:
        column.justify = "right"
    for level, rates in curve.items():
        cells = [f"{100 * rates[kind]:.1f}" for kind in KINDS]
        table.add_row(f"{level:g}", *cells, f"{100 * mean(rates):.1f}")
    return table


def mean(rates: dict[str, float]) -> float:
    return sum(rates.values()) / len(rates)


def verdict(curve: Curve) -> str:
    means = [mean(rates) for rates in curve.values()]
    faults = []
    if means[0] > EASIEST:
        faults.append(f"begins above {EASIEST:.0%}")
    if means[-1] < HARDEST:
        faults.append(f"ends below {HARDEST:.0%}")
    faults += [
        f"falls from {one:.1%} to {following:.1%}"
        for one, following in itertools.pairwise(means)
        if following < one - SLACK
    ]
    pages = sum(map(len, curve.values()))
    return f"the dial does not hold: {', '.join(faults)}" if faults else f"holds on {pages} pages"


@contextmanager
def folder_of(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    else:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=int, default=9)
    parser.add_argument("--keep", type=Path, help="a new folder that keeps pages and answers")
    options = parser.parse_args()
    console = Console()
    try:
        with folder_of(options.keep) as folder:
            places = [number / (options.levels - 1) for number in range(options.levels)]
            curve = {level: measure(folder / f"{level:.3f}", level) for level in places}
    except PrerequisiteError as error:
        print(f"skipped: {error}")
        return
    console.print(shown(curve))
    console.print(verdict(curve), highlight=False)


if __name__ == "__main__":
    main()
