"""Options, limits and plan of the commands that send requests to judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from keju.cli.app import err, note, print_json
from keju.cli.asking_output import show_plan
from keju.cli.options import KeyName, MaxTokens, PerMinute, PriceFile, RetryFailed, Timeout
from keju.cli.permission import SendRestricted, permission
from keju.cli.request_options import ServerOptions
from keju.texts import _

if TYPE_CHECKING:
    from keju.items import Request
    from keju.judging.store import ExpectedReply, ReplyFolder
    from keju.models import Model
    from keju.running.options import RunOptions


@dataclass(frozen=True)
class JudgeOptions(ServerOptions):
    """The server, decoding parameters, limits and budget of judges."""

    api_key_env: KeyName = "OPENAI_API_KEY"
    max_tokens: MaxTokens = None
    timeout: Timeout = 600.0
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Maximum number of simultaneous requests to each judge."
        ),
    ] = None
    temperature: Annotated[float, typer.Option(metavar="T", help="Sampling temperature.")] = 0.0
    max_cost: Annotated[
        float | None, typer.Option(metavar="MONEY", help="Maximum cost; needs --prices.")
    ] = None
    retry_failed: RetryFailed = False
    send_restricted_data: SendRestricted = False
    prices: PriceFile = None
    per_minute: PerMinute = None


def ask_judging(
    folder: ReplyFolder,
    models: list[str],
    options: RunOptions,
    questions: Callable[[Model], Iterable[Request]],
    *,
    answers: int,
    plan: bool,
    as_json: bool,
    reply: ExpectedReply | None = None,
) -> bool:
    """Send the requests to the judges; True if every one was answered.

    With `plan`, nothing is sent: the cost is printed, and the command ends.
    """
    from keju.cli.output.judge_tables import judging_lines
    from keju.judging import ask_judges, open_judges, plan_judging, sent_data
    from keju.judging.store import GRADE
    from keju.running.restricted_data import permitting, sending_question

    policy = options.policy()
    if not plan:
        judges = open_judges(models, options.model_options())
        with permitting(permission(options.send_restricted_data)):
            summary = ask_judges(folder, judges, questions, policy=policy, console=err)
        note(*judging_lines(summary))
        return summary.complete
    judges = open_judges(models, replace(options.model_options(), asking=False))
    found = plan_judging(
        folder,
        judges,
        questions,
        answers=answers,
        prices=policy.prices,
        per_minute=options.per_minute,
        reply=reply or GRADE,
    )
    if as_json:
        print_json(found)
        raise typer.Exit
    show_plan(found)
    if restricted := sending_question(judges, sent_data(folder.run)):
        note(
            _(
                "Before the first request you will be asked: {}. In scripts: "
                "--send-restricted-data",
                restricted,
            )
        )
    raise typer.Exit
