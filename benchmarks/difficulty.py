"""Whether the difficulty dial of synthetic pages is felt: `ppocr`'s CER over the dial.

Four kinds of page (a clear print, a print with notes, a thin print, a manuscript), each drawn at
nine places of the dial with the same chance, are read by the engine and scored as `keju score`
does. The dial holds if the mean begins at 5 % or less, ends at 50 % or more, and never falls.
Needs the fonts that ``make mini`` needs.

    python -m benchmarks.difficulty [--levels 9] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from keju.errors import PrerequisiteError
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju_synthetic import build_synth

RECIPES = Path(__file__).resolve().parents[1] / "packages/keju-synthetic/src/keju_synthetic/recipes"

KINDS = {
    "print": 'passage = "taohuayuan"\nhand = "song"',
    "notes": 'passage = "laozi-dao"\nhand = "kai"',
    "thin": 'passage = "chushibiao"\nhand = "ming"',
    "manuscript": 'passage = "yueyanglou"\nhand = "kai"\nmade = "manuscript"\nleaf = 2',
}

HEAD = """
format = "keju-synth-1"
name = "dial"
version = "1"
licence = "CC0-1.0"
seed = 1905
include = ["hands.toml"]
"""

PAGE = """
[[pages]]
id = "{kind}"
{fields}
asks = ["T1"]
difficulty = {level}
height = 900
"""

EASIEST, HARDEST = 0.05, 0.50

Curve = dict[float, dict[str, float]]
"""CER by place of the dial and kind of page."""


def write_recipe(folder: Path, level: float) -> Path:
    """Four pages at a place of the dial, in the bundled set's hands."""
    shutil.copy(RECIPES / "mini/hands.toml", folder)
    pages = [
        PAGE.format(kind=kind, fields=fields, level=f"{level:.3f}")
        for kind, fields in KINDS.items()
    ]
    recipe = folder / "dial.toml"
    recipe.write_text(HEAD + "".join(pages), "utf-8")
    return recipe


def measure(folder: Path, level: float) -> dict[str, float]:
    folder.mkdir()
    build_synth(write_recipe(folder, level), folder / "pages")
    run(folder / "pages", ("ppocr",), folder / "run", console=Console(quiet=True))
    return {
        score.item.partition("-")[0]: score.value
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
        if following < one
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
