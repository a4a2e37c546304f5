"""Commands of review: export items for people, and import their decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from keju.cli.app import err, say
from keju.cli.building import build_app, say_built
from keju.cli.options import DatasetPath, NewDataset, TaskIds, out_option
from keju.texts import _, n_

Scales = Annotated[
    Path | None,
    typer.Option(metavar="FILE.toml", help="File of your own review form, instead of keju's."),
]

review_app = typer.Typer(
    no_args_is_help=True,
    help="Send items to people for review in the formats of their tools, and read back "
    "their decisions: accepted, corrected, rejected, disputed.",
)
build_app.add_typer(review_app, name="review")


@review_app.command()
def export(
    dataset: DatasetPath,
    out: Annotated[
        Path,
        out_option(metavar="PATH", help="A .csv or .jsonl file, or a folder."),
    ],
    form: Annotated[
        Literal["sheet", "label-studio", "coco"],
        typer.Option(help="Format: a sheet, a Label Studio project, or boxes as COCO."),
    ] = "sheet",
    task: TaskIds = None,
    drafts: Annotated[bool, typer.Option("--drafts", help="Export only drafts.")] = False,
    scales: Scales = None,
) -> None:
    """Write items for review. Drafts become predictions if the tool supports them."""
    from keju.building.review_form import read_review_form
    from keju.building.reviewing.forms import describe_export, export_review
    from keju.datasets.store import Dataset
    from keju.definitions import check_question_form, takes_question
    from keju.items import Item
    from keju.runs.record_list import RecordList

    source_dataset = Dataset.open(dataset)
    for form_name in task or ():
        check_question_form(form_name)
    chosen = (
        item
        for item in source_dataset
        if takes_question(task, item.task, item.query) and (item.draft or not drafts)
    )
    items = RecordList(Item, chosen)
    export_review(form, source_dataset, items, out, read_review_form(scales) if scales else None)
    say(n_("{n:,} item in {}", "{n:,} items in {}", len(items), out))
    say(*describe_export(form, source_dataset, out))
    command = f"keju build review import {dataset} --reviewed {out}"
    command += f" --scales {scales}" if scales else ""
    say(_("Then: {}", f"{command} --out NEW"))


@review_app.command("import")
def import_(
    dataset: DatasetPath,
    reviewed: Annotated[
        list[Path],
        typer.Option(
            metavar="PATH", help="File or folder that came back. Can be given several times."
        ),
    ],
    out: NewDataset,
    person: Annotated[
        str, typer.Option(metavar="NAME", help="Reviewer of files that do not name one.")
    ] = "",
    people: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER=NAME",
            help="Name of a reviewer whom the tool exports as a number or address. Can be "
            "given several times.",
        ),
    ] = None,
    need: Annotated[
        int, typer.Option(metavar="N", min=1, max=9, help="Number of people who must agree.")
    ] = 1,
    judge: Annotated[
        str, typer.Option(metavar="NAME", help="Person whose decision settles disputes.")
    ] = "",
    rejected: Annotated[
        Literal["keep", "drop"],
        typer.Option(help="What happens to rejected items: keep as drafts, or drop."),
    ] = "keep",
    scales: Scales = None,
    least_mark: Annotated[
        float,
        typer.Option(metavar="MARK", min=0, help="Minimum mean mark on each scale; 0 accepts any."),
    ] = 0,
    below: Annotated[
        Literal["send-back", "drop"],
        typer.Option(help="What happens to items with lower marks: keep as drafts, or drop."),
    ] = "send-back",
) -> None:
    """Apply the decisions of people to the items; tables list agreement and disputes."""
    from keju.building.engine import Engine
    from keju.building.reviewing.step import STEP, ReviewSettings
    from keju.building.running import StepCall, run_step
    from keju.datasets.store import Dataset

    settings = ReviewSettings(
        reviewed=tuple(reviewed), person=person, people=tuple(people or ()), need=need,
        judge=judge, rejected=rejected, scales=scales, least_mark=least_mark, below=below,
    )  # fmt: skip
    done = run_step(
        StepCall(STEP, settings, Dataset.open(dataset)), out, engine=Engine(console=err)
    )
    say(*done.record.notes)
    say_built(done.manifest, out)
