"""Options, limits and plan of the commands that send requests to judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from keju.cli.app import err, note
from keju.cli.asking_output import show_plan

if TYPE_CHECKING:
    from keju.items import Request
    from keju.judging import JudgementFolder
    from keju.models import Decoding, Model, ModelOptions
    from keju.running import Policy


def judge_options(
    decoding: Decoding,
    *,
    base_url: str,
    api_key_env: str,
    timeout: float,
    dtype: str,
    asking: bool,
) -> ModelOptions:
    """Return the options with which judges are opened.

    Raises:
        UsageError: the dtype is not a short word.
    """
    from keju.models import ModelOptions
    from keju.models.request_fields import declared_dtype

    return ModelOptions(
        base_url=base_url,
        api_key_env=api_key_env,
        decoding=decoding,
        dtype=declared_dtype(dtype),
        timeout=timeout,
        asking=asking,
    )


def judge_policy(
    concurrency: int | None, timeout: float, retry_failed: bool, per_minute: float | None,
    prices: Path | None, max_cost: float | None,
) -> Policy:  # fmt: skip
    """Return the limits and the budget of requests to judges."""
    from keju.running import Budget, Limits, Policy
    from keju.running.prices import read_prices

    return Policy(
        concurrency=concurrency,
        retry_failed=retry_failed,
        timeout=timeout,
        limits=Limits(requests=per_minute),
        budget=Budget(max_cost=max_cost, prices=read_prices(prices) if prices else None),
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
    from keju.judging import open_judges, plan_judging
    from keju.reporting.console import print_json

    found = plan_judging(
        folder,
        open_judges(models, options),
        questions,
        answers=answers,
        prices=policy.budget.prices,
        per_minute=policy.limits.requests,
    )
    if as_json:
        print_json(found)
        return
    show_plan(found)


def ask_judging(
    folder: JudgementFolder,
    models: list[str],
    options: ModelOptions,
    policy: Policy,
    questions: Callable[[Model], Iterable[Request]],
) -> bool:
    """Send the requests to the judges; True if every one was answered."""
    from keju.judging import ask_judges, open_judges
    from keju.reporting.judging import judging_lines

    summary = ask_judges(
        folder, open_judges(models, options), questions, policy=policy, console=err
    )
    for line in judging_lines(summary):
        note(line)
    return summary.complete
