"""Commands that hand a run to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, err, note, say
from keju.errors import number_of

export_app = typer.Typer(no_args_is_help=True, help="Runs in the forms of other programs.")
app.add_typer(export_app, name="export")


@export_app.command("mcs-bench")
def mcs_bench(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run directory with tasks of MCS-Bench.")
    ],
    place: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE.json|DIR",
            help="File, for a run with one model, prompt variant and round. Else a new or empty "
            "directory, which gets a file for each.",
        ),
    ],
) -> None:
    """Write the responses as the MCS-Bench authors' RESPONSES.json, each as it was returned.

    `keju score FILE` and the authors' script read the files. A failure has no Response.
    """
    from keju.interop.mcs_responses import export_responses
    from keju.runs import FORMAT_1, RunFolder

    for each in export_responses(run, place):
        say(
            f"{each.file}: {number_of(each.responses, 'response')} "
            f"({number_of(each.failures, 'failure')})"
        )
    if RunFolder(run).manifest().format == FORMAT_1:
        note(
            "note: keju 0.1.0 made this run and removed reasoning before storing. Response is the "
            "rest, not the content as it was returned"
        )


@export_app.command()
def inspect(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run; scored, its scores go along.")],
    folder: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="The folder to write, new or empty.")
    ],
    images: Annotated[
        bool, typer.Option("--images", help="Put the pictures in too, not only their names.")
    ] = False,
) -> None:
    """Write the responses as logs that Inspect's viewer opens, one for each model and task.

    Failures are errors of samples, rounds are epochs. --model replay:DIR/MODEL reads them back.
    """
    from keju.interop.inspect_logs import export_inspect
    from keju.runs import RunFolder

    logs = samples = failures = size = 0
    for log in export_inspect(run, folder, images=images):
        logs, samples, failures = logs + 1, samples + log.samples, failures + log.failures
        size += log.file.stat().st_size
    say(
        f"{number_of(samples, 'response')} ({number_of(failures, 'failure')}) in "
        f"{number_of(logs, 'log')}, {size / 1e6:.1f} MB: {folder}"
    )
    if not any(RunFolder(run).scores_dir.glob("*.parquet")):
        note(f"note: the run has no scores to go along. Make them with: keju score {run}")
    say(f"Next: inspect view start --log-dir {folder}")


ModelOf = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Model whose transcriptions are written. Needed if the run has several.",
    ),
]


def _page_command(form: str, what: str, next_step: str) -> None:
    """Declare ``keju export FORM``, which writes a file for each image."""

    def command(
        run: Annotated[
            Path, typer.Argument(metavar="RUN", help="Run directory with tasks of transcription.")
        ],
        folder: Annotated[
            Path, typer.Option("-o", "--out", metavar="DIR", help="New or empty directory.")
        ],
        model: ModelOf = "",
        images: Annotated[
            bool, typer.Option("--images", help="Copy the images into DIR too.")
        ] = False,
        script: Annotated[
            str,
            typer.Option(
                "--script", metavar="SCRIPT", help="Script of the prompts, if the run has several."
            ),
        ] = "",
        round_: Annotated[
            int, typer.Option("--round", metavar="N", help="Round of the run, from 1.")
        ] = 1,
    ) -> None:
        from keju.cli.page_progress import page_bar
        from keju.interop.page_exports import export_pages

        with page_bar(err) as progress:
            done = export_pages(
                run, form, folder, model=model, script=script, round_=round_, images=images,
                progress=progress,
            )  # fmt: skip
        counts = ", ".join(f"{count:,} {status}" for status, count in done.statuses.items())
        say(f"{number_of(done.files, 'file')} by {done.model} ({counts}): {folder}")
        if done.replaced:
            note(
                f"note: {number_of(done.replaced, 'control character')} replaced (column replaced "
                "of index.csv)"
            )
        say(f"Next: {next_step.format(dir=folder)}")

    export_app.command(form, help=f"{what}\n\n{_PAGES}")(command)


_PAGES = """\
Each image becomes one file, named after the image in the source, else after the item. \
index.csv lists all images with the status of their files: [b]lines[/b] (with places), \
[b]some-lines[/b], [b]text-only[/b] (the model gave text without places; no place is invented), \
[b]empty[/b]; and, without a file, [b]undivided[/b] (one text for several images), \
[b]too-large[/b], [b]failed[/b], [b]filtered[/b], [b]missing[/b]."""

_page_command(
    "page-xml",
    "Write transcriptions as PAGE-XML (2019-07-15), for correction in eScriptorium, Transkribus "
    "or OCR-D.",
    "keju data import page-xml {dir} --out DATASET reads the corrected files",
)
_page_command(
    "alto",
    "Write transcriptions as ALTO 4.4, for correction in eScriptorium, or for a library's system.",
    "keju data import alto {dir} --out DATASET reads the corrected files",
)
_page_command(
    "hocr",
    "Write transcriptions as hOCR 1.2 (XHTML), for viewers and searchable PDF.",
    "see {dir}/index.csv",
)
_page_command(
    "txt",
    "Write transcriptions as text in reading order, UTF-8, a row for each column.",
    "see {dir}/index.csv",
)
