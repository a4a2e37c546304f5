"""`ModelSummary`: the counts of one model's requests after a call of `run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import field

from keju.items import Record
from keju.running.failures import Hint, hint_of
from keju.running.request_runner import ModelQueue
from keju.running.store import StoredResponse
from keju.texts import join_sentences


class ModelSummary(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The counts of one model's requests.

    `statuses` and `failures` (by kind) count the responses that the run now has for the planned
    requests, `asked` those that got their response in this call, `attempts` how often something was
    sent for them, `waited` the seconds between attempts over all of them, `left` the requests
    without a response. `answered`: the run has a response of the model that is not a failure.
    `halted` is the reason why the model was stopped, `hint` what to do about it where its requests
    would fail again, and `then` how to resume the run afterwards. `refused` are the decoding
    parameters that its server does not accept, `not_sent` those and others that were requested and
    that a request answered in this call did not have. `trouble` contains, by kind of failure, the
    messages of requests that were waiting for another attempt when the run stopped. `ignored_usage`
    are the implausible token counts, one text for each answer of this call that has such counts.
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
    queue: ModelQueue,
    kept: Sequence[StoredResponse],
    planned: int,
    not_asked: Mapping[str, int] | None = None,
) -> ModelSummary:
    """Return the summary of a model queue.

    Args:
        queue: the queue of this call.
        kept: the responses that were stored before and remain valid.
        planned: the number of requests in all.
        not_asked: the number of requests that the model does not support, by reason.
    """
    # Failures that were to be sent again, but were not because the model was stopped, are still
    # stored.
    kept = [*kept, *queue.failed_before.values()]
    answered = queue.answered or any(stored.status != "failed" for stored in kept)
    hint = hint_of(queue.halted_by, answered=answered) if queue.halted_by else Hint()
    statuses = Counter(stored.status for stored in kept)
    kinds = Counter(stored.kind for stored in kept if stored.status == "failed")
    return ModelSummary(
        model=queue.model.name,
        planned=planned,
        asked=queue.done,
        attempts=queue.attempts,
        waited=round(queue.waited, 3),
        left=queue.left - len(queue.failed_before),
        statuses=dict(sorted((statuses + queue.statuses).items())),
        failures=dict(sorted((kinds + queue.failures).items())),
        not_asked=dict(not_asked or {}),
        halted=queue.halted,
        hint=join_sentences(filter(None, (hint.what, queue.diagnosis))),
        answered=answered,
        then=hint.then,
        refused=tuple(sorted(queue.refused)),
        not_sent=tuple(sorted(queue.not_sent)),
        trouble=dict(sorted(queue.trouble.items())),
        ignored_usage=tuple(queue.ignored_usage),
    )
