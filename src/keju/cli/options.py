"""Options shared by several commands."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from keju.items import Protocol

item_option = partial(typer.Option, rich_help_panel="Items")
prompt_option = partial(typer.Option, rich_help_panel="Prompts")
model_option = partial(typer.Option, rich_help_panel="Model")
limit_option = partial(typer.Option, rich_help_panel="Speed and budget")
out_option = partial(typer.Option, "-o", "--out")

LICENSE_TOO = {
    "token_normalize_func": lambda name: "licence" if name == "license" else name,
}
"""Settings of a command whose option --licence can be written --license."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Everything = Annotated[
    bool, typer.Option("--all", help="Print everything, not only the first lines.")
]


def dataset_path(given: Path) -> Path:
    """The folder of a dataset, or of the bundled one by its name."""
    from keju.datasets import mini

    return mini.dataset_path(given)


DatasetPath = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help="Dataset directory, address (s3://, gs://, az://), or `mini`: the bundled "
        "synthetic set.",
        callback=dataset_path,
    ),
]
NewDataset = Annotated[Path, out_option(metavar="DIR", help="New dataset directory.")]
EngineOption = Annotated[
    Literal["native", "ray"],
    typer.Option(
        "--engine", help="Where the work is done: `native` (this machine) or `ray` (a Ray cluster)."
    ),
]
RayAddress = Annotated[
    str,
    typer.Option(
        metavar="HOST:PORT",
        help="Address of the Ray cluster. Default: RAY_ADDRESS; otherwise a local one is started.",
    ),
]
PartitionItems = Annotated[
    int,
    typer.Option(
        "--partition-items",
        metavar="N",
        min=0,
        help="Write items/part-*.parquet of at most N items in place of items.parquet. "
        "The dataset's hash is the same. Default 0: one table.",
        show_default=False,
    ),
]
NewDatasetOrAddress = Annotated[
    Path,
    out_option(
        metavar="DIR|ADDRESS",
        help="New dataset directory, or address (s3://, gs://, az://) at which nothing exists.",
    ),
]
ModelNames = Annotated[
    list[str],
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Model or engine (see `keju models`). Can be given several times.",
    ),
]
TaskIds = Annotated[
    list[str] | None,
    item_option(
        "--task",
        metavar="TASK",
        help="Use only this task, or one question form of it, e.g. recognition/Where. Can "
        "be given several times.",
    ),
]
Limit = Annotated[
    int | None,
    item_option(metavar="N", help="Number of items per task, from the first."),
]
Sample = Annotated[
    int | None,
    item_option(
        metavar="N", help="Total number of items, sampled evenly from all tasks and groups."
    ),
]
Seed = Annotated[
    int,
    item_option(metavar="N", help="Seed of --sample and of random baselines."),
]
ScriptName = Annotated[
    Literal["released", "simplified", "traditional"],
    prompt_option(
        "--script",
        help="Script of Chinese prompts: as released (default), simplified, or traditional.",
    ),
]
BoxConvention = Annotated[
    str,
    prompt_option(
        "--boxes",
        metavar="CONVENTION",
        help="Box convention of the prompt: xyxy, yxyx, xywh or cxcywh in pixels; xyxy-unit (0 to"
        " 1), xyxy-1000 (0 to 1000) and so on for other scales. Default: the benchmark's (xyxy).",
    ),
]
PriceFile = Annotated[
    Path | None,
    limit_option(
        "--prices", metavar="FILE", help="Price file (TOML), or `example`: the one that keju ships."
    ),
]
ProtocolName = Annotated[
    Literal[Protocol, "both"],
    typer.Option(
        help="Scoring protocol: `official` (as published), `strict` (recommended), or `both`."
        " `printed` adds the papers' formulas to both, where `official` follows the authors'"
        " script. `with-reasoning` is `official`, also with reasoning from a separate field before"
        " the answer, as in `both`."
    ),
]
BaseUrl = Annotated[
    str,
    model_option(
        metavar="URL", help="Address of an OpenAI-compatible server, up to and including /v1."
    ),
]
ExtraBody = Annotated[
    list[str] | None,
    model_option(
        metavar="NAME=JSON",
        help="Additional field of every request. Can be given several times.",
    ),
]
Concurrency = Annotated[
    int | None,
    limit_option(metavar="N", help="Maximum number of simultaneous requests to each model."),
]
MaxCost = Annotated[
    float | None,
    limit_option(
        metavar="MONEY",
        help="Maximum cost of the run, including responses stored before; needs --prices.",
    ),
]
KeyName = Annotated[
    str,
    model_option(metavar="NAME", help="Environment variable that contains the API key."),
]
MaxTokens = Annotated[
    int | None,
    model_option(metavar="N", help="Maximum number of new tokens. Default: the server's."),
]
Timeout = Annotated[
    float,
    model_option(metavar="SECONDS", min=0.001, help="Time limit of one attempt, in seconds."),
]
RetryFailed = Annotated[
    bool,
    limit_option("--retry-failed", help="Send failed requests again."),
]
PerMinute = Annotated[
    float | None,
    limit_option(
        metavar="N", min=0.001, help="Maximum number of requests per minute for each model."
    ),
]
