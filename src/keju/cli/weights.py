"""`keju weights`: list the weights that metrics and engines need, and check a folder of weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import asdict

from keju.cli.app import WITH_FAILURES, app, print_json, say
from keju.cli.options import AsJson
from keju.errors import UsageError
from keju.texts import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keju.encoders.weights import KnownWeights, WeightsCheck

weights_app = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="List the weights that semantic metrics and engines need, with their source, revision and "
    "SHA-256 if known. keju does not download weights.\n\n[b]keju weights check DIR[/b] checks "
    "whether a folder contains the right weights, for example [b]keju weights check "
    "models/bert-base-chinese[/b].",
)
app.add_typer(weights_app, name="weights")


@weights_app.callback()
def weights(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Print the list, unless a command follows."""
    if context.invoked_subcommand is not None:
        return
    from keju.encoders.weights import known_weights

    used = _metrics_of_encoders()
    if as_json:
        print_json(
            [{**asdict(each), "metrics": used.get(each.name, [])} for each in known_weights()]
        )
        return
    for each in known_weights():
        _show(each, used.get(each.name, []))


@weights_app.command()
def check(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="Folder of weights. Default: the weights that keju's extras installed.",
            show_default=False,
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check whether a folder contains weights whose SHA-256 is known.

    Files are hashed and never loaded, and pickle files are refused. The exit status is 1 if the
    hash of the weights is not a known one, or vocab.txt is not that of the model.

    Example: keju weights check models/bert-base-chinese
    """
    from keju.encoders.weights import check_weights, installed_folders

    if folder is not None and not folder.is_dir():
        raise UsageError(
            "there is no folder {}. Give the folder that has config.json and model.safetensors",
            folder,
        )
    folders = installed_folders() if folder is None else [folder]
    if not folders:
        raise UsageError("no weights are installed here. Give a folder: keju weights check DIR")
    checks = {str(path): check_weights(path) for path in folders}
    if as_json:
        print_json({path: asdict(result) for path, result in checks.items()})
    else:
        for path, result in checks.items():
            _show_check(path, result)
    if any(not result.model or result.vocabulary_differs for result in checks.values()):
        raise typer.Exit(WITH_FAILURES)


def _metrics_of_encoders() -> dict[str, list[str]]:
    """The names of the metrics that use each encoder."""
    from keju.scoring.metric import keju_metrics

    used: dict[str, list[str]] = {}
    for each in keju_metrics().values():
        if each.encoder and each.name not in used.setdefault(each.encoder, []):
            used[each.encoder].append(each.name)
    return used


def _show(known: KnownWeights, metrics: Sequence[str]) -> None:
    unknown = _("unknown")
    say(_("{}: {}", known.name, known.hub))
    if metrics:
        say(_("  metrics: {}", ", ".join(metrics)))
    size = _("{} MB", known.megabytes)
    say(
        _(
            "  revision: {}; size: {}",
            known.revision or unknown,
            size if known.megabytes else unknown,
        )
    )
    for name, sha256 in known.files.items():
        say(f"  {name}  {sha256}")
    if not known.files:
        say(_("  SHA-256: unknown"))


def _show_check(path: str, result: WeightsCheck) -> None:
    if not result.model:
        say(_("{}: no model with this SHA-256 is known", path))
    elif result.vocabulary_differs:
        say(_("{}: the weights of {}, with another vocab.txt", path, result.model))
    else:
        say(_("{}: the weights of {}", path, result.model))
    for name, sha256 in result.files.items():
        say(f"  {name}  {sha256}")
