"""Requests to judges: stored, throttled and resumed as in a run of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

from keju.console import Console
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.errors import KejuError, UsageError
from keju.items import UNKNOWN, Request
from keju.judging.folder import ReplyFolder
from keju.models import Model, ModelOptions, open_model
from keju.running import EstimatedRequest, Plan, Policy, ResponseStore, RunSummary, plan_of
from keju.running.key import Slot, key_of
from keju.running.prices import Prices
from keju.running.restricted_data import SendingCheck, SentData
from keju.running.session import send_requests
from keju.runs import RunFolder
from keju.texts import Text, _


class ExpectedReply(NamedTuple):
    """The length of a reply, for an estimate of its cost."""

    tokens: int
    rule: Text


GRADE = ExpectedReply(
    80, _("a reply of 80 tokens: two sentences and the grade; thinking is not counted")
)


def open_judges(specs: Sequence[str], options: ModelOptions) -> list[Model]:
    """Open the models that act as judges.

    Raises:
        UsageError: one is named twice, or cannot read an answer and grade it.
        PrerequisiteError: one needs something that is not installed.
    """
    if twice := [spec for spec, times in Counter(specs).items() if times > 1]:
        raise UsageError("--model {} is given twice", twice[0])
    temperature = options.decoding.temperature
    if temperature is not None and not isfinite(temperature):
        raise UsageError("--temperature must be a number, not {:g}", temperature)
    if not specs:
        raise UsageError("no judge. Name one with --model, as in --model openai:MODEL")
    judges = []
    for spec in specs:
        judge = open_model(spec, options)
        if judge.role not in {"model", "answers"} or judge.reader:
            raise UsageError(
                "{} cannot judge, because it cannot grade texts. Use a model, such as openai:MODEL",
                spec,
            )
        judges.append(judge)
    return judges


def ask_judges(
    folder: ReplyFolder,
    judges: list[Model],
    questions: Callable[[Model], Iterable[Request]],
    *,
    policy: Policy | None = None,
    console: Console | None = None,
) -> RunSummary:
    """Send the requests to judges that have no response yet; stored ones are not sent again.

    If the prompt has changed (for example because the model answered again), the request is sent
    again.

    Args:
        folder: where responses are stored.
        judges: the judges.
        questions: the requests to a judge; called several times.
        policy: concurrency, timeouts, retries and limits.
        console: where progress is shown; None shows none.

    Raises:
        UsageError: a judge had other settings before, another process is judging this run, or the
            texts may not be sent.
        DataError: a stored response is damaged, or the disk is full.
    """
    sending = SendingCheck(folder, sent_data(folder.run))

    def admit(asked: Sequence[Model]) -> None:
        sending.check(asked)
        folder.admit(judges)

    with ResponseStore(folder) as store:
        return send_requests(
            store,
            judges,
            questions,
            policy=policy or Policy(),
            identities=folder.judges(),
            before=admit,
            console=console,
        )


def sent_data(run: RunFolder) -> SentData:
    """The data that requests to judges contain: questions, references and answers, no images.

    The licence is that of the run's dataset, or unknown where the dataset is not found.
    """
    about = run.manifest()
    return SentData(
        name=about.dataset,
        licence=_licence_of(run),
        items=run.iter_items,
        item_count=sum(1 for _ in run.iter_item_ids()),
        images=False,
    )


def _licence_of(run: RunFolder) -> str:
    about = run.manifest()
    if about.dataset_hash == (bundled := Dataset.open(mini.path()).manifest).hash:
        return bundled.licence
    try:
        found = run.dataset().manifest
    except (KejuError, OSError):
        return UNKNOWN
    return found.licence if found.hash == about.dataset_hash else UNKNOWN


def plan_judging(
    folder: ReplyFolder,
    judges: Sequence[Model],
    questions: Callable[[Model], Iterable[Request]],
    *,
    answers: int,
    prices: Prices | None = None,
    per_minute: float | None = None,
    reply: ExpectedReply = GRADE,
) -> Plan:
    """Count the requests to judges or extractors and estimate their cost; sends nothing."""

    def estimated() -> Iterator[EstimatedRequest]:
        for judge in judges:
            known = ResponseStore(folder).known(judge.name)
            for request in questions(judge):
                slot = Slot(key_of(request, judge), request.item, request.candidate)
                yield EstimatedRequest(judge, request, reply.tokens, slot in known)

    return plan_of(
        estimated(), items=answers, output_rule=reply.rule, prices=prices, per_minute=per_minute
    )
