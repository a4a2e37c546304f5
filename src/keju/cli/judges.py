"""Options, limits and plan of the commands that send requests to judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from keju.cli.app import err, note
from keju.cli.asking_output import show_plan
from keju.cli.options import KeyName, MaxTokens, PerMinute, PriceFile, RetryFailed, Timeout
from keju.cli.permission import SendRestricted, permission
from keju.cli.request_options import ServerOptions
from keju.messages import message

if TYPE_CHECKING:
    from keju.items import Request
    from keju.judging import JudgementFolder
    from keju.models import Model, ModelOptions
    from keju.running import Policy


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

    def model_options(self, *, asking: bool) -> ModelOptions:
        """The options with which judges are opened; `asking` is false for a plan.

        Raises:
            UsageError: the dtype is not a short word, the reasoning effort is empty, or an
                extra field may not be set.
        """
        from keju.models import ModelOptions
        from keju.models.request_fields import declared_dtype, parse_extra_body
        from keju.running.options import decoding_of

        return ModelOptions(
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            decoding=decoding_of(
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                sampling_seed=self.sampling_seed,
                reasoning_effort=self.reasoning_effort,
                thinking=self.thinking,
                extra_body=parse_extra_body(self.extra_body or ()),
            ),
            dtype=declared_dtype(self.dtype),
            timeout=self.timeout,
            asking=asking,
        )

    def policy(self) -> Policy:
        """The limits and the budget of requests to judges.

        Raises:
            DataError: the price file cannot be read.
        """
        from keju.running import Budget, Policy, RateLimits, RetryPolicy
        from keju.running.prices import read_prices

        prices = read_prices(self.prices) if self.prices else None
        return Policy(
            concurrency=self.concurrency,
            retry_failed=self.retry_failed,
            retry=RetryPolicy(timeout=self.timeout),
            limits=RateLimits(requests=self.per_minute),
            budget=Budget(max_cost=self.max_cost, prices=prices),
        )


def show_judging_plan(
    folder: JudgementFolder,
    models: list[str],
    options: ModelOptions,
    policy: Policy,
    questions: Callable[[Model], Iterable[Request]],
    answers: int,
    as_json: bool,
) -> None:
    """Print the cost of judging without sending a request."""
    from keju.cli.output.console import print_json
    from keju.judging import open_judges, plan_judging, sent_data
    from keju.running.restricted_data import SendingCheck

    judges = open_judges(models, options)
    found = plan_judging(
        folder,
        judges,
        questions,
        answers=answers,
        prices=policy.budget.prices,
        per_minute=policy.limits.requests,
    )
    if as_json:
        print_json(found)
        return
    show_plan(found)
    if restricted := SendingCheck(folder, sent_data(folder.run)).describe(judges):
        note(message("terminal.will-ask-to-send", sending=restricted))


def ask_judging(
    folder: JudgementFolder,
    models: list[str],
    options: ModelOptions,
    policy: Policy,
    questions: Callable[[Model], Iterable[Request]],
    *,
    send_restricted: bool,
) -> bool:
    """Send the requests to the judges; True if every one was answered."""
    from keju.cli.output.judge_tables import judging_lines
    from keju.judging import ask_judges, open_judges
    from keju.running.restricted_data import permitting

    with permitting(permission(send_restricted)):
        summary = ask_judges(
            folder, open_judges(models, options), questions, policy=policy, console=err
        )
    for line in judging_lines(summary):
        note(line)
    return summary.complete
