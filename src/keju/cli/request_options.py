"""The options of `keju run`, with the names of `RunOptions`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from keju.cli.options import (
    BaseUrl,
    BoxConvention,
    Concurrency,
    EngineOption,
    ExtraBody,
    KeyName,
    Limit,
    MaxCost,
    MaxTokens,
    PerMinute,
    PriceFile,
    RayAddress,
    RetryFailed,
    Sample,
    Seed,
    TaskIds,
    Timeout,
    item_option,
    limit_option,
    model_option,
    prompt_option,
)
from keju.cli.permission import SendRestricted

if TYPE_CHECKING:
    from keju.running.options import RunOptions


@dataclass(frozen=True)
class RequestOptions:
    """Which items are asked, how, of which models, within which limits, and where engines run."""

    tasks: TaskIds = None
    limit: Limit = None
    sample: Sample = None
    seed: Seed = 0
    items: Annotated[
        Path | None,
        item_option(
            metavar="FILE",
            help="File with the ids of the items to run, one id per line. Default: all items.",
        ),
    ] = None
    pairs: Annotated[
        str | None,
        item_option(
            metavar="FORM",
            help="Reduced form of tasks of pairs: once, gallery=N or gallery=N,seed=S"
            " (docs/running.md explains each). Fewer pairs are sent, and the results are not "
            "shown in the paper's tables. Default: all pairs.",
        ),
    ] = None
    shard: Annotated[
        str | None,
        item_option(metavar="I/N", help="Part I of N of the items; `keju merge` joins the parts."),
    ] = None
    label: Annotated[
        str | None,
        model_option(
            metavar="TEXT",
            help="Name of the state of the models, e.g. step-2000 or 2026-11-23. Each label needs"
            " its own --out; `keju history` compares them. Default: none.",
        ),
    ] = None
    rounds: Annotated[
        int | None,
        prompt_option(metavar="N", help="Number of times that each item is asked. Default: 1."),
    ] = None
    preset: Annotated[
        str,
        prompt_option(
            metavar="NAME",
            help="Decoding parameters and rounds of a paper; an unknown name lists all. Other "
            "options override them.",
        ),
    ] = ""
    settings: Annotated[
        list[str] | None,
        prompt_option(
            "--setting",
            metavar="SETTING",
            help="Input setting. image (default): the image alone; own-ocr: the image and the "
            "model's own transcription of it; gold-ocr: the image and the reference "
            "transcription; own-text or gold-text: the same transcription without the image. "
            "Can be given several times.",
        ),
    ] = None
    scripts: Annotated[
        list[str] | None,
        prompt_option(
            "--script",
            metavar="SCRIPT",
            help="Script of Chinese prompts: released (default), simplified, or traditional. A"
            " script in which the item was not released is converted with OpenCC. Can be "
            "given several times.",
        ),
    ] = None
    wordings: Annotated[
        list[str] | None,
        prompt_option(
            "--wording",
            metavar="NAME",
            help="Wording of the prompts: released (default), answer-line (and a last line with "
            "the answer alone, so that fewer answers are unclear), or obi-gemini (How and Where of "
            "recognition in one prompt). Can be given several times.",
        ),
    ] = None
    prompts: Annotated[
        list[Path] | None,
        prompt_option(
            metavar="FILE",
            help="TOML file of your own prompts, which are one wording. Only your wordings are "
            "used; add --wording released to use the published one too. Can be given several "
            "times.",
        ),
    ] = None
    boxes: BoxConvention = ""
    system_prompt: Annotated[
        str,
        prompt_option(
            "--system-prompt",
            "--system",
            metavar="TEXT|@FILE",
            help="System prompt of every request, as text or from a file. Default: none.",
        ),
    ] = ""
    base_url: BaseUrl = ""
    sampling_seed: Annotated[
        int | None,
        model_option(metavar="N", help="Seed of sampling on the server. Default: none."),
    ] = None
    reasoning_effort: Annotated[
        str | None,
        model_option(
            metavar="EFFORT",
            help="Reasoning effort as the server names it: none, minimal, low, medium, high … "
            "Default: the server's.",
        ),
    ] = None
    extra_body: ExtraBody = None
    dtype: Annotated[
        str,
        model_option(
            metavar="FORMAT",
            help="Number format in which the server runs the model, e.g. bf16. It is recorded "
            "as you declare it, not sent.",
        ),
    ] = "unknown"
    api_key_env: KeyName = "OPENAI_API_KEY"
    temperature: Annotated[
        float | None,
        model_option(metavar="T", help="Sampling temperature."),
    ] = None
    top_p: Annotated[
        float | None,
        model_option(metavar="P", help="Nucleus sampling probability."),
    ] = None
    top_k: Annotated[
        int | None,
        model_option(metavar="K", help="Number of the most likely tokens to sample from."),
    ] = None
    max_tokens: MaxTokens = None
    timeout: Timeout = 600.0
    reading_order: Annotated[
        bool,
        model_option(help="Put an OCR engine's lines into reading order."),
    ] = True
    replay_columns: Annotated[
        str,
        model_option(
            metavar="ID,ANSWER",
            help="Columns of the item's id and of the answer in the tables of replay:FILE; of "
            "several for the answer the first that has a value, as in id,resps,filtered_resps of "
            "lmms-eval. Default: id or item, and prediction, response, output, text or answer.",
        ),
    ] = ""
    max_pixels: Annotated[
        int | None,
        model_option(
            metavar="N",
            help="Maximum number of pixels of an image for openai: and inspect: models; larger "
            "images are scaled down.",
        ),
    ] = None
    max_bytes: Annotated[
        int | None,
        model_option(metavar="N", help="Maximum image size in bytes, before base64 encoding."),
    ] = None
    concurrency: Concurrency = None
    max_cost: MaxCost = None
    batch: Annotated[
        bool,
        limit_option(
            "--batch",
            help="Use the vendor's batch endpoint: submit requests, or collect finished "
            "ones. Most vendors charge half the price and answer within a day.",
        ),
    ] = False
    retry_failed: RetryFailed = False
    replace: Annotated[
        bool,
        limit_option(
            "--replace",
            help="Replace stored responses whose request has changed, e.g. because of another "
            "image, prompt or model setting. Without this option they are an error.",
        ),
    ] = False
    send_restricted_data: SendRestricted = False
    prices: PriceFile = None
    per_minute: PerMinute = None
    engine: EngineOption = "native"
    ray_address: RayAddress = ""

    def run_options(self) -> RunOptions:
        """The options of the run.

        Raises:
            UsageError: a field of --extra-body is not NAME=JSON, or the file of --system-prompt
                cannot be read.
        """
        from keju.models.decoding import parse_extra_body, read_system_prompt
        from keju.running.options import RunOptions

        values = asdict(self)
        del values["engine"], values["ray_address"]
        values["system_prompt"] = read_system_prompt(self.system_prompt)
        values["extra_body"] = parse_extra_body(self.extra_body or ())
        return RunOptions(**values)
