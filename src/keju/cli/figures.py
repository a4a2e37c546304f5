"""The command that draws figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from keju.cli.app import WITH_FAILURES, app, note, say
from keju.cli.options import PriceFile, out_option
from keju.errors import UsageError
from keju.texts import _
from keju.texts import language as terminal_language

if TYPE_CHECKING:
    from keju.figures import Drawn, Format
    from keju.running.prices import Prices

_FORMATS = ("svg", "png", "pdf")
_PAPERS = "published"
_PICTURES = 200_000_000
"""Maximum bytes of small copies of images from which specimens are cut."""

Language = Annotated[
    Literal["en", "zh"] | None,
    typer.Option(help="Language of the labels. Default: the terminal's."),
]
FormatNames = Annotated[
    str,
    typer.Option(
        "--format", metavar="LIST", help="File formats, separated by commas: svg, png, pdf."
    ),
]


@app.command()
def figures(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN…|DATASET|published",
            help="Scored runs, a dataset (`mini`: the bundled one), or `published` for the"
            " papers' tables.",
        ),
    ],
    folder: Annotated[Path, out_option(metavar="DIR", help="Output directory.")] = Path("figures"),
    formats: FormatNames = "svg",
    which: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Draw only this kind of figure. Can be given several times."
        ),
    ] = None,
    published: Annotated[
        bool,
        typer.Option(
            "--published", help="Also draw the papers' printed models, marked as printed."
        ),
    ] = False,
    prices: PriceFile = None,
    language: Language = None,
) -> None:
    """Draw figures, each with a CSV file of its data.

    Figures of runs: standings, ranks, differences, heatmap, boxes, settings, options, classes,
    costs, risks, specimens. Of a dataset: questions, strata, distributions, pictures. Of the
    papers: those that their printed tables allow. For a figure that the data do not allow, the
    reason is printed.
    """
    from keju.running.prices import read_prices

    known = read_prices(prices) if prices else None
    drawn = _drawn(what, which or [], published, known)
    if not draw_all(drawn, folder, formats, language or terminal_language()):
        raise typer.Exit(WITH_FAILURES)


def draw_all(
    drawn: Iterable[Drawn], folder: Path, formats: str, language: str, *, quiet: bool = False
) -> bool:
    """Write figures and print where they are, on standard error if `quiet`.

    Returns:
        Whether there was something to draw, and every character of it is drawn by some font.
    """
    from keju.figures import Undrawn, write_figure
    from keju.words import Words

    chosen, report = parse_formats(formats), note if quiet else say
    words = Words(language)
    blank: dict[str, None] = {}
    undrawn: dict[tuple[str, str], list[str]] = {}
    count = 0
    for each in drawn:
        if isinstance(each, Undrawn):
            undrawn.setdefault((each.kind, each.why), []).append(each.of)
            continue
        written = write_figure(each, folder, chosen, words)
        blank |= dict.fromkeys(written.undrawable)
        count += 1
        suffixes = ", ".join(path.suffix.removeprefix(".") for path in written.paths)
        report(f"{folder / each.name}: {suffixes}")
    for (kind, why), names in undrawn.items():
        figure = f"{kind} ({', '.join(names)})" if any(names) else kind
        report(_("{}: not drawn: {}", figure, words(why)))
    if not count:
        note(_("keju: {}", _("No figure can be drawn from these data")))
    if blank:
        signs = ", ".join(f"{sign} (U+{ord(sign):04X})" for sign in blank)
        note(
            _(
                "No installed font has these characters, which appear as blanks or boxes: {}. "
                "Install one that has them (Debian: fonts-noto-cjk, fonts-hanazono, "
                "fonts-cns11643-sung), or set KEJU_FONTS to a folder that contains it",
                signs,
            )
        )
    return bool(count) and not blank


def parse_formats(given: str) -> tuple[Format, ...]:
    """The formats of a list joined by commas.

    Raises:
        UsageError: a format does not exist.
    """
    names = dict.fromkeys(name.strip().lower() for name in given.split(",") if name.strip())
    for name in names:
        if name not in _FORMATS:
            raise UsageError("no format {!r}; there are {}", name, ", ".join(_FORMATS))
    if not names:
        raise UsageError("--format names none of {}", ", ".join(_FORMATS))
    return cast("tuple[Format, ...]", tuple(names))


def _drawn(
    what: list[str], which: list[str], published: bool, prices: Prices | None
) -> Iterable[Drawn]:
    from keju.figures import of_papers

    if what == [_PAPERS] and not _is_of_keju(Path(_PAPERS)):
        return of_papers(which)
    paths = [Path(each) for each in what]
    if any((path / "run.json").is_file() for path in paths):
        return _of_runs(paths, which, published, prices)
    if len(paths) > 1:
        raise UsageError("figures are of one dataset, of runs, or of published")
    return _of_dataset(paths[0], which)


def _is_of_keju(path: Path) -> bool:
    """Whether a path is a dataset or a run; a definition has its paper's tables in `published`."""
    return any((path / name).is_file() for name in ("dataset.json", "run.json"))


def _of_runs(
    paths: list[Path], which: list[str], published: bool, prices: Prices | None
) -> Iterable[Drawn]:
    from keju.analysis.leaderboard import leaderboards
    from keju.analysis.run_set import load_runs
    from keju.datasets.thumbnails import thumbnails_of
    from keju.figures import OfRun, of_run

    run_set = load_runs(paths)
    images = thumbnails_of(run_set.datasets, budget=_PICTURES)
    boards = leaderboards(run_set, run_set.results, prices)
    return of_run(OfRun(run_set, boards, images, published=published, prices=prices), which)


def _of_dataset(path: Path, which: list[str]) -> Iterable[Drawn]:
    from keju.cli.options import dataset_path
    from keju.datasets import Dataset
    from keju.datasets.stats import stats
    from keju.figures import OfDataset, of_dataset

    folder = dataset_path(path)
    return of_dataset(OfDataset(Dataset.open(folder).manifest.name, stats(folder)), which)
