"""Asking judges: stored, throttled and resumed as a run is that asks models."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

from rich.console import Console

from keju.errors import UsageError
from keju.items import Request, Response
from keju.judging.folder import JudgementFolder
from keju.models import Model, ModelOptions, Pipeline, open_model, role_of
from keju.running import (
    Asked,
    Asker,
    Budget,
    Job,
    Lane,
    Plan,
    Policy,
    ResponseStore,
    RunSummary,
    Slot,
    Stored,
    ask_all,
    plan_of,
    request_key,
    summary_of,
)
from keju.running.budget import Meter, Purse, check_priced, spent_so_far
from keju.running.prices import Prices

OUTPUT_RULE = "a reply of 80 tokens: two sentences and the grade; thinking is not counted"
REPLY_TOKENS = 80


class Replies(NamedTuple):
    """A judge's stored replies by their place, where they answer what would be asked now."""

    judge: str
    of: dict[Slot, Response]

    def to(self, request: Request) -> Response | None:
        """The reply to a request, or None."""
        return self.of.get(_slot(request))


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
    policy = policy or Policy()
    policy.limits.check()
    policy.budget.check()
    with ResponseStore(folder) as store:
        folder.admit(judges)
        lanes: list[Lane] = []
        standing: list[list[Stored]] = []
        for judge in judges:
            known = store.known(judge.name)
            found = [stored for _, stored in _jobs(judge, questions(judge), known, policy)]
            standing.append([stored for stored in found if stored is not None])
            lanes.append(
                Lane(
                    judge,
                    _missing(judge, questions(judge), known, policy),
                    total=found.count(None),
                    ceiling=policy.concurrency or judge.concurrency,
                    policy=policy,
                )
            )
        purse = _purse(folder, judges, policy.budget)
        interrupted = asyncio.run(_go(lanes, store, policy, purse, console))
    prices = policy.budget.prices
    return RunSummary(
        out=str(folder.path),
        items=sum(lane.total for lane in lanes),
        models=tuple(
            summary_of(lane, there, lane.total + len(there))
            for lane, there in zip(lanes, standing, strict=True)
        ),
        interrupted=interrupted,
        used_up=purse.used_up,
        cost=purse.spent if prices else None,
        currency=prices.currency if prices else "",
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
            for job, stored in _jobs(judge, questions(judge), known, Policy()):
                yield Asked(judge, job.request, REPLY_TOKENS, stored is not None)

    return plan_of(
        asked(), items=answers, output_rule=OUTPUT_RULE, prices=prices, per_minute=per_minute
    )


def replies_of(
    folder: JudgementFolder, judge: str, identity: dict[str, str], questions: Iterable[Request]
) -> Replies:
    """A judge's stored replies to these requests; replies to other prompts are left out."""
    stored = {
        Slot(each.item, each.query, each.setting, each.round, each.candidate): each
        for each in folder.responses(judge)
    }
    found = {}
    for request in questions:
        reply = stored.get(_slot(request))
        if reply is not None and reply.key == request_key(request, identity):
            found[_slot(request)] = reply
    return Replies(judge, found)


def _jobs(
    judge: Model, requests: Iterable[Request], known: dict[Slot, Stored], policy: Policy
) -> Iterator[tuple[Job, Stored | None]]:
    """Each request, with what is stored for it, unless that is to be asked for again."""
    identity = judge.identity
    for request in requests:
        key = request_key(request, identity)
        stored = known.get(_slot(request))
        again = policy.retry_failed and stored is not None and stored.status == "failed"
        if stored is not None and (stored.key != key or again):
            stored = None
        yield Job(request, key), stored


def _missing(
    judge: Model, requests: Iterable[Request], known: dict[Slot, Stored], policy: Policy
) -> Iterator[Job]:
    """What is still to be asked; made when it is its turn."""
    for job, stored in _jobs(judge, requests, known, policy):
        if stored is None:
            yield job


def _purse(folder: JudgementFolder, judges: Sequence[Model], budget: Budget) -> Purse:
    """What is left of a budget after the replies under these rubrics were paid for."""
    if budget.prices is None:
        return Purse(budget)
    meters = ((judge.name, Meter(judge.identity, budget.prices)) for judge in judges)
    check_priced(meters, budget)
    return Purse(budget, spent_so_far(folder, folder.judges(), budget.prices))


async def _go(
    lanes: Sequence[Lane],
    store: ResponseStore,
    policy: Policy,
    purse: Purse,
    console: Console | None,
) -> bool:
    try:
        return await ask_all(Asker(None, lanes, store.append, policy, purse), console)
    finally:
        for lane in lanes:
            await lane.model.close()


def _slot(request: Request) -> Slot:
    return Slot(request.item, request.query, request.setting, request.round, request.candidate)
