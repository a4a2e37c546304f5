"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

LICENSE_TOO = {
    "token_normalize_func": lambda name: "licence" if name == "license" else name,
}
"""Settings of a command whose option --licence may be written --license."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def dataset_path(given: Path) -> Path:
    """The folder of a dataset, or of the bundled one by its name."""
    from keju.datasets import mini

    return mini.dataset_path(given)


DatasetPath = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help="A dataset's folder, or mini: the bundled synthetic set.",
        callback=dataset_path,
    ),
]
NewDataset = Annotated[
    Path, typer.Option("-o", "--out", metavar="DIR", help="The new dataset's folder.")
]
Pages = Annotated[
    int | None,
    typer.Option(
        "--pages",
        metavar="N",
        help="Pages of your collection: the engines' times are converted to days for it.",
    ),
]
MachinePrice = Annotated[
    str,
    typer.Option(
        "--machine-price",
        metavar="PRICE/h",
        help="Price of an hour of the machine, as in 0.20/h or 0.20EUR/h; with --pages the cost "
        "of the collection is shown.",
    ),
]
ModelNames = Annotated[
    list[str],
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Who answers; may be given several times. See: keju models",
    ),
]
TaskIds = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        metavar="TASK",
        help="Only this task, or one question form of it such as recognition/Where; may be given "
        "several times.",
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", help="The first N items of each task.")]
Sample = Annotated[
    int | None,
    typer.Option(metavar="N", help="N items in all, drawn evenly over tasks and groups."),
]
Seed = Annotated[
    int, typer.Option(metavar="N", help="For --sample and for the baselines that draw.")
]
SampleSeed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the sample.")]
Rounds = Annotated[
    int | None, typer.Option(metavar="N", help="How often each item is asked; once by default.")
]
PresetName = Annotated[
    str,
    typer.Option(
        "--preset", metavar="NAME", help="Ask as a paper did: mcs-bench (decoding) or obi-bench."
    ),
]
KeyName = Annotated[
    str, typer.Option(metavar="NAME", help="Environment variable that has the API key.")
]
MaxTokens = Annotated[
    int | None,
    typer.Option(metavar="N", help="Maximum number of new tokens; by default the server's."),
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.001, help="Time limit of one attempt.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Send failed requests again.")]
SamplingSeed = Annotated[
    int | None,
    typer.Option(
        "--sampling-seed", metavar="N", help="Seed of sampling on the server; none by default."
    ),
]
SystemPrompt = Annotated[
    str,
    typer.Option(
        "--system-prompt",
        "--system",
        metavar="TEXT|@FILE",
        help="System prompt of every request, as text or from a file; none by default.",
    ),
]
ReasoningEffort = Annotated[
    str | None,
    typer.Option(
        "--reasoning-effort",
        metavar="EFFORT",
        help="Reasoning effort as the server names it: none, minimal, low, medium, high …; by "
        "default the server's.",
    ),
]
ThinkingSwitch = Annotated[
    Literal["on", "off"] | None,
    typer.Option("--thinking", help="Thinking switch of a hybrid model; by default the server's."),
]
ExtraBody = Annotated[
    list[str] | None,
    typer.Option(
        "--extra-body",
        metavar="NAME=JSON",
        help="Additional field of every request's body; may be given several times.",
    ),
]
Dtype = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="FORMAT",
        help="Number format in which the server runs the model, e.g. bf16. It is recorded as you "
        "declare it, not sent.",
    ),
]
SettingNames = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        metavar="SETTING",
        help="Input setting: image (the default); own-ocr: the image and the "
        "model's own transcription of it, made first; gold-ocr: the image and its true "
        "transcription; own-text, gold-text: these texts without the image. May be given several "
        "times.",
    ),
]
ScriptName = Annotated[
    Literal["released", "simplified", "traditional"],
    typer.Option("--script", help="Chinese prompts as released (the default), or in one script."),
]
ScriptNames = Annotated[
    list[str] | None,
    typer.Option(
        "--script",
        metavar="SCRIPT",
        help="Chinese prompts as released (the default), simplified or traditional: the released "
        "wording where the item has one, else converted with OpenCC. May be given several times.",
    ),
]
WordingNames = Annotated[
    list[str] | None,
    typer.Option(
        "--wording",
        metavar="NAME",
        help="Prompts as released (the default), or in another declared wording: obi-gemini (How "
        "and Where of recognition in one prompt); may be given several times.",
    ),
]
PromptFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--prompts",
        metavar="FILE",
        help="TOML file of your own prompts, with one or several wordings; may be given several "
        "times. Only these wordings are asked; add --wording released for the published one.",
    ),
]
ExampleCounts = Annotated[
    list[int] | None,
    typer.Option(
        "--examples",
        metavar="N",
        help="Number of solved items of the reference split that are shown before each question; "
        "0 by default. May be given several times.",
    ),
]
ExamplesSeed = Annotated[
    int, typer.Option("--examples-seed", metavar="N", help="Seed of the draw of examples.")
]
BoxConventions = Annotated[
    list[str] | None,
    typer.Option(
        "--boxes",
        metavar="[MODEL=]CONVENTION",
        help="Box convention of the prompt: xyxy, yxyx, xywh or cxcywh, in pixels, or with -unit "
        "(0 to 1) or -1000 after it; by default the benchmark's (xyxy). With MODEL= for this "
        "model only; may be given several times.",
    ),
]
ItemList = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="List of the items to ask: one id per line, or CSV, TSV or JSON with a column id; by "
        "default all items.",
    ),
]
PairFormName = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        metavar="FORM",
        help="Reduced form of tasks of pairs: once (one direction of each pair), gallery=N or "
        "gallery=N,seed=S (N candidates, drawn at random, with all relevant ones among them), "
        "edges=N or hog=N (the N candidates that a baseline ranks first). By default all pairs are "
        "asked. Results of a reduced form do not enter the paper's tables.",
    ),
]
BaseUrl = Annotated[
    str, typer.Option(metavar="URL", help="An OpenAI-compatible server, up to its /v1.")
]
MaxPixels = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="A limit of an openai:, inspect: or http-ocr: model: larger pictures are scaled down "
        "to N pixels.",
    ),
]
MaxBytes = Annotated[
    int | None, typer.Option(metavar="N", help="The same, by bytes of the file before base64.")
]
PriceFile = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="A price file; 'example' is the one that ships."),
]
PerMinute = Annotated[
    float | None,
    typer.Option(metavar="N", min=0.001, help="Requests a minute that each model takes."),
]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="I/N", help="Only the I-th of N parts of the items; keju merge joins them."
    ),
]
ProtocolName = Annotated[
    Literal["official", "strict", "both"],
    typer.Option(help="The authors' reading, the sound one, or both."),
]
