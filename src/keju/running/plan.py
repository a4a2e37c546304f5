"""Plan of a run: the selected items, their requests, and the estimated cost. Sends nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

import msgspec
from msgspec import field
from msgspec.structs import replace

from keju.definitions import has_reference, task
from keju.definitions.pair_forms import STEP as PAIRS_STEP
from keju.items import Item, Record, Request
from keju.models import Fit, Model
from keju.running.contents import Reader, RunContents, name_of_images
from keju.running.limits import Policy
from keju.running.prices import Prices
from keju.running.requests import Slot, key_of
from keju.running.store import ResponseStore
from keju.running.tokens import TEXT_RULE, image_rule, request_tokens, text_tokens
from keju.runs import RunFolder
from keju.texts import _

READING = "(reading)"
"""The task of the first of two phases: images are transcribed before models answer."""

OUTPUT_RULE = _("an answer as long as the true one; thinking is not counted")

UNREAD = "texts that are yet to be read, of unknown length"
UNANSWERED = "answers to items without a reference, of unknown length"
SMALLER = "images that will be made smaller, counted by their bytes as stored"
NO_RULE = _("images, which no known rule counts for this model")

_A_BOX = "[0000, 0000, 0000, 0000],"
_YES_OR_SHARE = "Yes"

_SUMMED = (
    "calls", "stored", "images", "text_tokens", "image_tokens", "input_tokens", "output_tokens",
    "money", "hours",
)  # fmt: skip
"""The fields of a row that are added for a model."""

_Number = TypeVar("_Number", int, float)


class PlanRow(msgspec.Struct, kw_only=True):
    """The requests to one model: of one task, in all, or transcriptions beforehand (`READING`).

    `calls` are requests over all rounds that have no response yet, `stored` those that have.
    `input_tokens` are those of text and images; `image_tokens` of the images alone, and both None
    where the rule of the model's vendor is not known. There are no tokens where nothing leaves this
    machine. `money` is None without prices, and where a price or a count is not known; `hours` is
    None without a rate. `counted_by` is the source of the rule by which images are counted, empty
    where none is known. `declined` maps reasons to counts of unsupported requests; `unknown` names
    what the estimate does not include.
    """

    model: str
    task: str = ""
    calls: int = 0
    stored: int = 0
    images: int = 0
    text_tokens: int = 0
    image_tokens: int | None = 0
    input_tokens: int | None = 0
    output_tokens: int = 0
    money: float | None = None
    hours: float | None = None
    counted_by: str = ""
    declined: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)

    def decline(self, reason: str, count: int = 1) -> None:
        """Count requests that the model does not get."""
        self.declined[reason] = self.declined.get(reason, 0) + count

    def exclude(self, what: str, count: int = 1) -> None:
        """Count what the estimate does not include."""
        if count:
            self.unknown[what] = self.unknown.get(what, 0) + count


class Plan(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The requests that a run would send: a row for each model and task, a sum for each model.

    `text_rule` and `output_rule` describe how tokens were estimated; `currency` and `prices_seen`
    are those of the price file. `identities` are those of the models, as run.json would have them.
    """

    items: int
    rows: tuple[PlanRow, ...]
    totals: tuple[PlanRow, ...] = ()
    text_rule: str = TEXT_RULE
    output_rule: str = OUTPUT_RULE
    currency: str = ""
    prices_seen: str = ""
    identities: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        """The number of requests over all models and tasks."""
        return sum(row.calls for row in self.rows)


def item_to_count(item: Item) -> Item:
    """The item without the parts that neither a request nor the length of an answer depends on."""
    steps = tuple(step for step in item.provenance if step.step == PAIRS_STEP)
    return replace(item, lines=(), metadata={}, provenance=steps)


def estimate(contents: RunContents, folder: RunFolder, policy: Policy) -> Plan:
    """Count the requests of a run to each model, and estimate their tokens.

    The items still have their references (`item_to_count`). Responses that the run contains are not
    counted.

    Raises:
        DataError: see `request_for`; or a stored response is damaged.
    """
    readers = dict.fromkeys(contents.readers.values())
    counts = [_count_readings(contents, reader, folder, policy) for reader in readers]
    counts += [_count_requests(contents, model, folder, policy) for model in contents.models]
    plan = plan_of(counts, items=len(contents.sent_items), prices=policy.prices)
    return replace(plan, identities={model.name: model.identity for model in contents.models})


class PlannedModel:
    """The requests to one model, counted in a row for each task.

    Args:
        model: the model; of one on this machine only calls and images are counted.
        policy: the prices and the rate.
    """

    def __init__(self, model: Model, policy: Policy) -> None:
        identity = model.identity
        self.model, self.rows = model, dict[str, PlanRow]()
        self.paid = "endpoint" in identity
        self._prices, self._per_minute = policy.prices, policy.per_minute
        self._name = identity.get("model", "") if self.paid else ""
        self._blind = identity.get("baseline") == "blind"
        self._fit = Fit.of(identity)
        self._system_tokens = text_tokens(identity.get("system_prompt", ""))

    def row(self, task_id: str) -> PlanRow:
        """The row of a task."""
        if task_id not in self.rows:
            rule = image_rule(self._name)
            self.rows[task_id] = PlanRow(
                model=self.model.name,
                task=task_id,
                money=0.0 if self._prices else None,
                hours=0.0 if self._per_minute and self.paid else None,
                counted_by=rule.source if rule else "",
            )
        return self.rows[task_id]

    def add(self, request: Request, answer_tokens: int, task_id: str = "") -> PlanRow:
        """Count a request and the tokens of its answer; its row is that of its task."""
        row = self.row(task_id or request.task)
        if self._blind:
            request = replace(request, images=())
        row.calls += 1
        row.images += len(request.images)
        if not self.paid:
            return row
        text, images = request_tokens(request, self._name, self._fit)
        row.exclude(SMALLER, sum(map(self._fit.touches, request.images)))
        row.exclude(NO_RULE, len(request.images) if images is None else 0)
        row.text_tokens += text + self._system_tokens
        row.image_tokens = _sum([row.image_tokens, images])
        row.input_tokens = _sum([row.text_tokens, row.image_tokens])
        row.output_tokens += answer_tokens
        if self._prices:
            price = self._prices.price(self._name)
            row.money = None
            if price and row.input_tokens is not None:
                row.money = price.of(row.input_tokens, row.output_tokens)
        if self._per_minute:
            row.hours = row.calls / self._per_minute / 60
        return row


def plan_of(
    counts: Sequence[PlannedModel],
    *,
    items: int,
    output_rule: str = OUTPUT_RULE,
    prices: Prices | None = None,
) -> Plan:
    """The plan of counted requests, such as those to a judge.

    `items` is the number of items that they are about, `output_rule` how the tokens of answers were
    estimated.
    """
    rows = [row for count in counts for row in count.rows.values()]
    return Plan(
        items=items,
        rows=tuple(rows),
        totals=tuple(
            _total([row for row in rows if row.model == name])
            for name in dict.fromkeys(row.model for row in rows)
        ),
        output_rule=output_rule,
        currency=prices.currency if prices else "",
        prices_seen=prices.seen if prices else "",
    )


def _count_requests(
    contents: RunContents, model: Model, folder: RunFolder, policy: Policy
) -> PlannedModel:
    """The requests to a model, task by task in the items' order."""
    heads = ResponseStore(folder).known(model.name)
    count = PlannedModel(model, policy)
    readings = contents.readings(model, folder)
    for item in contents.sent_items:
        row = count.row(item.task)
        answer_tokens = _answer_tokens(item) if count.paid else 0
        for planned in contents.requests_of(item, model, readings):
            request = planned.request
            if request is None:
                row.decline(planned.skip_reason)
                continue
            if _is_stored(request, model, heads):
                row.stored += 1
                continue
            count.add(request, answer_tokens)
            if count.paid:
                row.exclude(UNREAD, int(planned.waits and item.transcription is None))
                row.exclude(UNANSWERED, int(not answer_tokens))
    return count


def _count_readings(
    contents: RunContents, reader: Reader, folder: RunFolder, policy: Policy
) -> PlannedModel:
    """The transcriptions that are made before, one row per reader: two models may share one."""
    heads = ResponseStore(folder).known(reader.model.name, readings=True)
    count = PlannedModel(reader.model, policy)
    row = count.row(READING)
    lengths = {
        name_of_images(item.images): None
        if item.transcription is None
        else text_tokens(item.transcription)
        for item in contents.sent_items
        if count.paid
    }
    for request in contents.reading_requests(reader):
        length = lengths.get(request.item)
        if _is_stored(request, reader.model, heads):
            row.stored += 1
            continue
        count.add(request, length or 0, READING)
        row.exclude(UNREAD, int(count.paid and length is None))
    return count


def _is_stored(request: Request, model: Model, heads: Collection[Slot]) -> bool:
    # Most plans are of new runs, whose requests need no keys.
    return bool(heads) and Slot(key_of(request, model), request.item, request.candidate) in heads


def _answer_tokens(item: Item) -> int:
    """The approximate length of an answer (see `OUTPUT_RULE`); 0 where it cannot be estimated."""
    if item.boxes:
        return len(item.boxes) * text_tokens(_A_BOX)
    if task(item.task).of_pairs:
        return text_tokens(_YES_OR_SHARE)
    if not has_reference(item):
        return 0
    return max(1, text_tokens(item.answer or item.answer_simplified))


def _total(rows: Sequence[PlanRow]) -> PlanRow:
    """The sum of a model's rows; a sum with an unknown part is unknown."""
    total = PlanRow(model=rows[0].model, counted_by=rows[0].counted_by)
    for name in _SUMMED:
        setattr(total, name, _sum([getattr(row, name) for row in rows]))
    for row in rows:
        for reason, number in row.declined.items():
            total.decline(reason, number)
        for what, number in row.unknown.items():
            total.exclude(what, number)
    return total


def _sum(numbers: Sequence[_Number | None]) -> _Number | None:
    """The sum; None if a part is unknown."""
    counts = [number for number in numbers if number is not None]
    return sum(counts[1:], counts[0]) if len(counts) == len(numbers) else None
