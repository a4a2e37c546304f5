"""`ModelSummary`: the counts of one model's requests after a call of `run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import field

from keju.items import Record
from keju.running.ask import Lane
from keju.running.failures import Hint, hint_of
from keju.running.store import Stored


class ModelSummary(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The counts of one model.

    `statuses` and `failures` (by kind) count the responses that the run now has for the planned
    requests, `asked` those that got their response this time, `attempts` how often something was
    sent for them, `waited` the seconds between attempts over all of them, `left` what has no
    response yet. `answered`: the run has a response of the model that is not a failure.
    `halted` says why the model was stopped, `hint` what to do about it where its
    requests would fail again, and `then` how the run goes on after that. `refused` are the decoding
    parameters that its server does not take, `not_sent` those and others that were asked for and
    that a request answered now did not have. `trouble` is what was said, by kind of failure, of
    requests that were waiting to be sent again when the run stopped. `ignored_usage` are the
    token counts that cannot be right, one text for each answer now that has such counts.
    """

    model: str
    planned: int
    asked: int = 0
    attempts: int = 0
    waited: float = 0.0
    left: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    not_asked: dict[str, int] = field(default_factory=dict)
    answered: bool = True
    halted: str = ""
    hint: str = ""
    then: str = ""
    refused: tuple[str, ...] = ()
    not_sent: tuple[str, ...] = ()
    trouble: dict[str, str] = field(default_factory=dict)
    ignored_usage: tuple[str, ...] = ()


def summary_of(
    lane: Lane,
    standing: Sequence[Stored],
    planned: int,
    not_asked: Mapping[str, int] | None = None,
) -> ModelSummary:
    """Return the summary of a lane.

    Args:
        lane: what was asked now.
        standing: what had been stored before and still stands.
        planned: how many requests there are in all.
        not_asked: what was declined, by reason.
    """
    # What was to be sent again and was not, because the model was stopped, is still stored.
    standing = [*standing, *lane.failed_before.values()]
    answered = lane.answered or any(stored.status != "failed" for stored in standing)
    hint = hint_of(lane.halted_by, answered=answered) if lane.halted_by else Hint()
    statuses = Counter(stored.status for stored in standing)
    kinds = Counter(stored.kind for stored in standing if stored.status == "failed")
    return ModelSummary(
        model=lane.model.name,
        planned=planned,
        asked=lane.done,
        attempts=lane.attempts,
        waited=round(lane.waited, 3),
        left=lane.left - len(lane.failed_before),
        statuses=dict(sorted((statuses + lane.statuses).items())),
        failures=dict(sorted((kinds + lane.failures).items())),
        not_asked=dict(not_asked or {}),
        halted=lane.halted,
        hint=". ".join(filter(None, (hint.what, lane.diagnosis))),
        answered=answered,
        then=hint.then,
        refused=tuple(sorted(lane.refused)),
        not_sent=tuple(sorted(lane.not_sent)),
        trouble=dict(sorted(lane.trouble.items())),
        ignored_usage=tuple(lane.ignored_usage),
    )
