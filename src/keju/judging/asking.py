"""Asking judges: stored, throttled and resumed as a run is that asks models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite

from rich.console import Console

from keju.errors import UsageError
from keju.items import Request
from keju.judging.folder import JudgementFolder
from keju.models import Model, ModelOptions, Pipeline, open_model, role_of
from keju.running import Asked, Plan, Policy, ResponseStore, RunSummary, plan_of
from keju.running.prices import Prices
from keju.running.questions import ask_questions, jobs_of

OUTPUT_RULE = "a reply of 80 tokens: two sentences and the grade; thinking is not counted"
REPLY_TOKENS = 80


def open_judges(specs: Sequence[str], options: ModelOptions) -> list[Model]:
    """Open the models that are to judge.

    Raises:
        UsageError: one is named twice, or is no model that can read an answer and grade it.
        PrerequisiteError: one needs something that is not installed.
    """
    if twice := [spec for spec, times in Counter(specs).items() if times > 1]:
        raise UsageError(f"--model {twice[0]} is given twice")
    temperature = options.decoding.temperature
    if temperature is not None and not isfinite(temperature):
        raise UsageError(f"--temperature must be a number, not {temperature:g}")
    if not specs:
        raise UsageError("no judge. Name one with --model, as in --model openai:MODEL")
    judges = []
    for spec in specs:
        role = role_of(spec)
        judge = open_model(spec, options)
        if role not in {"model", "answers"} or isinstance(judge, Pipeline):
            raise UsageError(f"{spec} cannot judge: it grades no text. A judge is openai:MODEL")
        judges.append(judge)
    return judges


def ask_judges(
    folder: JudgementFolder,
    judges: list[Model],
    questions: Callable[[Model], Iterable[Request]],
    *,
    policy: Policy | None = None,
    console: Console | None = None,
) -> RunSummary:
    """Ask judges what has no reply yet; what is stored is not asked again.

    A reply to another prompt than now (the model has answered anew, say) is asked for again.

    Args:
        folder: where replies are stored.
        judges: who is asked.
        questions: the requests to a judge; called several times.
        policy: how many at once, how long and how often.
        console: where progress is shown; None shows none.

    Raises:
        UsageError: a judge judged otherwise before, or another process is judging this run.
        DataError: a stored reply is damaged, or the disk is full.
    """
    with ResponseStore(folder) as store:
        folder.admit(judges)
        return ask_questions(
            store,
            judges,
            questions,
            policy=policy or Policy(),
            identities=folder.judges(),
            console=console,
        )


def plan_judging(
    folder: JudgementFolder,
    judges: Sequence[Model],
    questions: Callable[[Model], Iterable[Request]],
    *,
    answers: int,
    prices: Prices | None = None,
    per_minute: float | None = None,
) -> Plan:
    """Count what judges would be asked and what it takes; asks nobody."""

    def asked() -> Iterator[Asked]:
        for judge in judges:
            known = ResponseStore(folder).known(judge.name)
            for job, stored in jobs_of(judge, questions(judge), known, Policy()):
                yield Asked(judge, job.request, REPLY_TOKENS, stored is not None)

    return plan_of(
        asked(), items=answers, output_rule=OUTPUT_RULE, prices=prices, per_minute=per_minute
    )
