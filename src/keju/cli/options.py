"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

LICENSE_TOO = {
    "token_normalize_func": lambda name: "licence" if name == "license" else name,
}
"""Settings of a command whose option --licence can be written --license."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def dataset_path(given: Path) -> Path:
    """The folder of a dataset, or of the bundled one by its name."""
    from keju.datasets import mini

    return mini.dataset_path(given)


DatasetPath = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help="Dataset directory, or `mini`: the bundled synthetic set.",
        callback=dataset_path,
    ),
]
NewDataset = Annotated[
    Path, typer.Option("-o", "--out", metavar="DIR", help="New dataset directory.")
]
Pages = Annotated[
    int | None,
    typer.Option(
        "--pages",
        metavar="N",
        help="Number of pages in your collection; the report then gives the time in days for it.",
    ),
]
MachinePrice = Annotated[
    str,
    typer.Option(
        "--machine-price",
        metavar="PRICE/h",
        help="Price of one machine hour, e.g. 0.20/h or 0.20EUR/h; with --pages the report"
        " gives the cost.",
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
    typer.Option(
        "--task",
        metavar="TASK",
        help="Use only this task, or one question form of it, e.g. recognition/Where. Can "
        "be given several times.",
        rich_help_panel="Items",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Number of items per task, from the first.", rich_help_panel="Items"
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of items in total, drawn evenly over tasks and groups.",
        rich_help_panel="Items",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", help="Seed of --sample and of random baselines.", rich_help_panel="Items"
    ),
]
SampleSeed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the sample.")]
Rounds = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of times that each item is asked. Default: 1.",
        rich_help_panel="Prompts",
    ),
]
PresetName = Annotated[
    str,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Settings of a paper. An unknown name lists them.",
        rich_help_panel="Prompts",
    ),
]
KeyName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Environment variable that contains the API key.",
        rich_help_panel="Model",
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Maximum number of new tokens. Default: the server's.",
        rich_help_panel="Model",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.001,
        help="Time limit of one attempt, in seconds.",
        rich_help_panel="Model",
    ),
]
RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed", help="Send failed requests again.", rich_help_panel="Speed and budget"
    ),
]
SamplingSeed = Annotated[
    int | None,
    typer.Option(
        "--sampling-seed",
        metavar="N",
        help="Seed of sampling on the server. Default: none.",
        rich_help_panel="Model",
    ),
]
SystemPrompt = Annotated[
    str,
    typer.Option(
        "--system-prompt",
        "--system",
        metavar="TEXT|@FILE",
        help="System prompt of every request, as text or from a file. Default: none.",
        rich_help_panel="Prompts",
    ),
]
ReasoningEffort = Annotated[
    str | None,
    typer.Option(
        "--reasoning-effort",
        metavar="EFFORT",
        help="Reasoning effort as the server names it: none, minimal, low, medium, high … "
        "Default: the server's.",
        rich_help_panel="Model",
    ),
]
ThinkingSwitch = Annotated[
    Literal["on", "off"] | None,
    typer.Option(
        "--thinking",
        help="Thinking mode of a hybrid model. Default: the server's.",
        rich_help_panel="Model",
    ),
]
ExtraBody = Annotated[
    list[str] | None,
    typer.Option(
        "--extra-body",
        metavar="NAME=JSON",
        help="Additional field of every request. Can be given several times.",
        rich_help_panel="Model",
    ),
]
Dtype = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="FORMAT",
        help="Number format in which the server runs the model, e.g. bf16. It is recorded as you "
        "declare it, not sent.",
        rich_help_panel="Model",
    ),
]
SettingNames = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        metavar="SETTING",
        help="Input setting. image (default); own-ocr: the image and the model's own "
        "transcription of it; gold-ocr: the image and its true transcription; "
        "own-text, gold-text: these texts without the image. Can be given several "
        "times.",
        rich_help_panel="Prompts",
    ),
]
ScriptName = Annotated[
    Literal["released", "simplified", "traditional"],
    typer.Option(
        "--script",
        help="Script of Chinese prompts: as released (default), simplified, or traditional.",
        rich_help_panel="Prompts",
    ),
]
ScriptNames = Annotated[
    list[str] | None,
    typer.Option(
        "--script",
        metavar="SCRIPT",
        help="Script of Chinese prompts: released (default), simplified, or traditional. A"
        " script in which the item was not released is converted with OpenCC. Can be "
        "given several times.",
        rich_help_panel="Prompts",
    ),
]
WordingNames = Annotated[
    list[str] | None,
    typer.Option(
        "--wording",
        metavar="NAME",
        help="Wording of the prompts: released (default), or another declared one: "
        "obi-gemini (How and Where of recognition in one prompt). Can be given "
        "several times.",
        rich_help_panel="Prompts",
    ),
]
PromptFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--prompts",
        metavar="FILE",
        help="TOML file of your own prompts, with one or more wordings. Only these "
        "wordings are asked; add --wording released for the published one. Can be "
        "given several times.",
        rich_help_panel="Prompts",
    ),
]
ExampleCounts = Annotated[
    list[int] | None,
    typer.Option(
        "--examples",
        metavar="N",
        help="Number of solved items of the reference split that are shown before each "
        "question. Default: 0. Can be given several times.",
        rich_help_panel="Prompts",
    ),
]
ExamplesSeed = Annotated[
    int,
    typer.Option(
        "--examples-seed",
        metavar="N",
        help="Seed of the choice of examples.",
        rich_help_panel="Prompts",
    ),
]
BoxConventions = Annotated[
    list[str] | None,
    typer.Option(
        "--boxes",
        metavar="[MODEL=]CONVENTION",
        help="Box convention of the prompt: xyxy, yxyx, xywh or cxcywh, in pixels, or with"
        " the suffix -unit (0 to 1) or -1000. Default: the benchmark's (xyxy). MODEL="
        " limits it to one model. Can be given several times.",
        rich_help_panel="Prompts",
    ),
]
ItemList = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="List of the items to ask: one id per line, or CSV, TSV or JSON with a column"
        " id. Default: all items.",
        rich_help_panel="Items",
    ),
]
PairFormName = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        metavar="FORM",
        help="Reduced form of tasks of pairs: once (one direction of each pair), gallery=N"
        " or gallery=N,seed=S (N random candidates that include all relevant ones), "
        "edges=N or hog=N (the N candidates that a baseline ranks first). Default: "
        "all pairs. Results of a reduced form are not shown in the paper's tables.",
        rich_help_panel="Items",
    ),
]
BaseUrl = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Address of an OpenAI-compatible server, up to and including /v1.",
        rich_help_panel="Model",
    ),
]
MaxPixels = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Maximum number of pixels of an image for openai:, inspect: and http-ocr: "
        "models; larger images are scaled down.",
        rich_help_panel="Model",
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Maximum image size in bytes, before base64 encoding.",
        rich_help_panel="Model",
    ),
]
PriceFile = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="Price file (TOML), or `example`: the one that keju ships.",
        rich_help_panel="Speed and budget",
    ),
]
PerMinute = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        min=0.001,
        help="Maximum number of requests per minute for each model.",
        rich_help_panel="Speed and budget",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="I/N",
        help="Part I of N of the items; `keju merge` joins the parts.",
        rich_help_panel="Items",
    ),
]
ProtocolName = Annotated[
    Literal["official", "strict", "both"],
    typer.Option(
        help="Scoring protocol: `official` (as published), `strict` (recommended), or `both`."
    ),
]
