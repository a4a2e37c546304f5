"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def dataset_path(given: Path) -> Path:
    """``mini`` is the bundled set, unless a folder of that name is here."""
    if str(given) == "mini" and not given.exists():
        from keju.datasets import mini

        return mini.path()
    return given


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
    str, typer.Option(metavar="NAME", help="The environment variable that holds the key.")
]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="New tokens at most.")]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.001, help="For one attempt at most.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Ask again what failed before.")]
SamplingSeed = Annotated[
    int | None,
    typer.Option("--sampling-seed", metavar="N", help="The server's own seed for sampling."),
]
SystemPrompt = Annotated[
    str,
    typer.Option(
        "--system-prompt",
        metavar="TEXT|@FILE",
        help="A system prompt before every prompt, as text or from a file; none by default.",
    ),
]
ReasoningEffort = Annotated[
    str | None,
    typer.Option(
        "--reasoning-effort",
        metavar="EFFORT",
        help="How much a model reasons: none, minimal, low, medium, high … as its server names it.",
    ),
]
ThinkingSwitch = Annotated[
    Literal["on", "off"] | None,
    typer.Option(
        "--thinking", help="The thinking switch of a hybrid model; by default the server's."
    ),
]
ExtraBody = Annotated[
    list[str] | None,
    typer.Option(
        "--extra-body",
        metavar="NAME=JSON",
        help="A further field of every request's body; may be given several times.",
    ),
]
Dtype = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="FORMAT",
        help="The number format in which the server runs the model, e.g. bf16: declared by you, "
        "and recorded.",
    ),
]
SettingNames = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        metavar="SETTING",
        help="What is sent with the question: image (the default); own-ocr: the image and the "
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
BoxConventions = Annotated[
    list[str] | None,
    typer.Option(
        "--boxes",
        metavar="[MODEL=]CONVENTION",
        help="Ask for boxes as xyxy, yxyx, xywh or cxcywh, in pixels or with -unit (0 to 1) or "
        "-1000 after it; by default as the benchmark does (xyxy). With MODEL= only that model; "
        "may be given several times.",
    ),
]
ItemList = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="Only the items that FILE lists: one id a line, or CSV, TSV, JSON with a column id.",
    ),
]
PairFormName = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        metavar="FORM",
        help="Ask tasks of pairs in a reduced form: once (one direction of each pair), gallery=N "
        "(N candidates, all relevant ones among them, drawn by gallery=N,seed=S), edges=N or hog=N "
        "(the N that a baseline ranks first). Results do not enter the paper's tables.",
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
