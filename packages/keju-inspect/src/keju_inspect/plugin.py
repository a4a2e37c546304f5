"""The declarations of this package. Inspect is slow to import, so its use imports it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import keju
from keju.plugins import Model, ModelOptions, ResponseFile, StoredAnswer


@keju.model(
    "inspect:PROVIDER/MODEL",
    summary="any other vendor, through Inspect: anthropic, google, mistral, bedrock, grok … and "
    "its SDK",
    packages=["inspect_ai"],
    install="pip install keju-inspect",
)
def open_model(spec: str, options: ModelOptions) -> Model:
    """Open a model as Inspect names it, such as ``anthropic/claude-opus-4-5``."""
    from keju_inspect.provider import InspectModel  # noqa: PLC0415

    return InspectModel(spec, options)


@keju.export(
    "inspect",
    summary="Write the responses as Inspect logs, one per model and task. Failed requests are "
    "sample errors and rounds are epochs. --model replay:'DIR/MODEL/*.eval' reads the logs back.",
    run="Run directory. Scores are included if the run is scored.",
    out="Output directory, new or empty.",
    images="Include the images, not only their names.",
    next_step="inspect view start --log-dir {}",
)
def export_run(run: Path, out: Path, *, images: bool = False) -> Iterable[ResponseFile]:
    """Write the logs."""
    from keju_inspect.export import export_logs  # noqa: PLC0415

    return export_logs(run, out, images=images)


@keju.responses("inspect")
def read_log(path: Path) -> Iterable[StoredAnswer]:
    """Read the answers of a log, ``.eval`` or ``.json``."""
    from keju_inspect import logs  # noqa: PLC0415

    return logs.read_log(path)
