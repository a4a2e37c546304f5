"""Commands that export a run for other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from keju.cli.addresses import refuse_addresses
from keju.cli.app import app, err, note, say
from keju.cli.help_texts import translate_made_command
from keju.cli.options import out_option
from keju.errors import error_text
from keju.local_paths import shell_quoted
from keju.registry import PluginError, describe_broken, list_returned
from keju.texts import _, in_terminal, language, n_, translator

if TYPE_CHECKING:
    from keju.exports import RunExport


class _ExportGroup(TyperGroup):
    """``keju export FORM``: the declared formats, and the commands of this file."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's context
        """The declared forms and the commands of this file."""
        from keju.exports import EXPORTS

        return list(dict.fromkeys([*EXPORTS, *super().list_commands(ctx)]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - Typer's own types
        """A command of this file, or the one made from a declared form."""
        if found := super().get_command(ctx, cmd_name):
            return found
        from keju.exports import EXPORTS

        if cmd_name not in EXPORTS:
            return None
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        plugin = EXPORTS.plugin_of(cmd_name)
        try:
            form = EXPORTS[cmd_name]
        except PluginError as error:
            alone.command(name=cmd_name, help=escape(in_terminal(error_text(error))))(lambda: None)
        else:
            origin = in_terminal(_(" From the plug-in {}.", escape(str(plugin))))
            what = translator(language())(form.what) + (origin if plugin else "")
            alone.command(name=form.name, help=what)(_run_command(form))
        command = typer.main.get_command(alone)
        refuse_addresses(command)
        translate_made_command(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as above
        """Refuse a form whose package is broken or not installed, with the reason."""
        from keju.exports import EXPORTS

        if args and super().get_command(ctx, args[0]) is None:
            if args[0] in EXPORTS:
                EXPORTS[args[0]]
            elif args[0] in EXPORTS.elsewhere or describe_broken():
                raise EXPORTS.make_unknown_error(args[0])
        return super().resolve_command(ctx, args)


def _run_command(form: RunExport) -> Callable[..., None]:
    """The function of ``keju export FORM`` for a declared format."""

    def write(run: Path, place: Path, **options: bool) -> None:
        from keju.exports import ResponseFile

        written = form.write(run, place, **options)
        for each in list_returned(form.write, written, ResponseFile):
            say(
                _(
                    "{}: {} ({})",
                    each.file,
                    n_("{n:,} response", "{n:,} responses", each.responses),
                    n_("{n:,} failure", "{n:,} failures", each.failures),
                )
            )
        if form.next_step:
            say(_("Next: {}", form.next_step.replace("{}", shell_quoted(str(place)))))

    def command(run: Path, place: Path) -> None:
        write(run, place)

    def with_images(run: Path, place: Path, images: bool = False) -> None:
        write(run, place, images=images)

    chosen = with_images if form.images else command
    chosen.__annotations__ |= {
        "run": Annotated[Path, typer.Argument(metavar="RUN", help=form.run)],
        "place": Annotated[Path, out_option(metavar="FILE|DIR", help=form.out)],
    }
    if form.images:
        chosen.__annotations__["images"] = Annotated[
            bool, typer.Option("--images", help=form.images)
        ]
    return chosen


export_app = typer.Typer(
    cls=_ExportGroup, no_args_is_help=True, help="Export runs in the formats of other programs."
)
app.add_typer(export_app, name="export")


ModelOf = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Model whose transcriptions are written. Needed if the run has several.",
    ),
]


def _page_command(form: str, what: str, *, reads_back: bool) -> None:
    """Declare ``keju export FORM``, which writes a file for each image."""

    def command(
        run: Annotated[
            Path, typer.Argument(metavar="RUN", help="Run directory with tasks of transcription.")
        ],
        folder: Annotated[Path, out_option(metavar="DIR", help="New or empty directory.")],
        model: ModelOf = "",
        images: Annotated[
            bool, typer.Option("--images", help="Copy the images into DIR too.")
        ] = False,
    ) -> None:
        from keju.cli.page_progress import page_bar
        from keju.page_exports import export_pages

        with page_bar(err) as progress:
            done = export_pages(run, form, folder, model=model, images=images, progress=progress)
        counts = ", ".join(f"{count:,} {status}" for status, count in done.statuses.items())
        say(
            n_(
                "{n:,} file of {} in {}: {}",
                "{n:,} files of {} in {}: {}",
                done.files,
                done.model,
                folder,
                counts,
            )
        )
        if done.replaced:
            note(
                n_(
                    "note: {n:,} control character replaced (column replaced of index.csv)",
                    "note: {n:,} control characters replaced (column replaced of index.csv)",
                    done.replaced,
                )
            )
        if reads_back:
            say(_("Next, after the correction: keju data import {} {} --out DATASET", form, folder))
        else:
            say(_("Next: see {}/index.csv", folder))

    export_app.command(form, help=f"{what}\n\n{_PAGES}")(command)


_PAGES = """\
Each image becomes one file, named after the image in the source, else after the item. \
index.csv lists all images with the status of their files: [b]lines[/b] (with places), \
[b]some-lines[/b], [b]text-only[/b] (the model gave text without places; no place is invented), \
[b]empty[/b]; and, without a file, [b]undivided[/b] (one text for several images), \
[b]failed[/b], [b]filtered[/b], [b]missing[/b]. Of a run with several scripts or rounds the first \
one is written."""

_page_command(
    "page-xml",
    "Write transcriptions as PAGE-XML (2019-07-15), for correction in eScriptorium, Transkribus "
    "or OCR-D.",
    reads_back=True,
)
_page_command(
    "alto",
    "Write transcriptions as ALTO 4.4, for correction in eScriptorium, or for a library's system.",
    reads_back=True,
)
_page_command(
    "hocr",
    "Write transcriptions as hOCR 1.2 (XHTML), for viewers and searchable PDF.",
    reads_back=False,
)
_page_command(
    "txt",
    "Write transcriptions as text in reading order, UTF-8, a row for each column.",
    reads_back=False,
)
