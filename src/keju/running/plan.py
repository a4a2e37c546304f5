"""Plan of a run: the selected items, their requests, and the estimated cost. Sends nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from msgspec import field
from msgspec.structs import replace

from keju.definitions import has_reference, task
from keju.definitions.pair_forms import STEP as PAIRS_STEP
from keju.items import Item, Record, Request
from keju.models import Fit, Model
from keju.running.contents import RunContents, Skipped, Unread
from keju.running.limits import Policy
from keju.running.prices import Prices
from keju.running.readings import name_of_images
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

_Number = TypeVar("_Number", int, float)


class PlanRow(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The requests to one model of one task, or its transcriptions beforehand (task `READING`).

    `calls` are requests over all rounds that have no response yet, `stored` those that have.
    `input_tokens` are those of text and images; `image_tokens` of the images alone, and both None
    where the rule of the model's vendor is not known. There are no tokens where nothing leaves this
    machine. `money` is None without prices, and where a
    price or a count is not known. `declined` maps reasons to counts of unsupported requests;
    `unknown` names what the estimate does not include.
    """

    model: str
    task: str
    calls: int = 0
    stored: int = 0
    images: int = 0
    text_tokens: int = 0
    image_tokens: int | None = 0
    input_tokens: int | None = 0
    output_tokens: int = 0
    money: float | None = None
    declined: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)


class PlanTotal(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The sum for one model; a sum with an unknown part is unknown.

    `hours` is at the rate that was given, else None. `counted_by` is the source of the rule by
    which its images are counted, empty where none is known or nothing leaves this machine.
    """

    model: str
    calls: int
    stored: int
    image_tokens: int | None
    input_tokens: int | None
    output_tokens: int
    money: float | None
    hours: float | None
    counted_by: str


class Plan(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The requests that a run would send: a row for each model and task, a sum for each model.

    `text_rule` and `output_rule` describe how tokens were estimated; `currency` and `prices_seen`
    are those of the price file. `identities` are those of the models, as run.json would have them.
    """

    items: int
    rows: tuple[PlanRow, ...]
    totals: tuple[PlanTotal, ...] = ()
    text_rule: str = TEXT_RULE
    output_rule: str = OUTPUT_RULE
    currency: str = ""
    prices_seen: str = ""
    identities: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        """The number of requests over all models and tasks."""
        return sum(row.calls for row in self.rows)


class EstimatedRequest(NamedTuple):
    """One request of a plan: its model, the length of the answer, whether it is already stored."""

    model: Model
    request: Request
    answer_tokens: int
    stored: bool


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
    counts = list(_count_readings(contents, folder))
    for model in contents.models:
        counts += _count_requests(contents, model, folder)
    plan = _plan(counts, policy.prices, policy.per_minute, items=len(contents.sent_items))
    return replace(plan, identities={model.name: model.identity for model in contents.models})


def plan_of(
    requests: Iterable[EstimatedRequest],
    *,
    items: int,
    output_rule: str,
    prices: Prices | None = None,
    per_minute: float | None = None,
) -> Plan:
    """The plan of requests that exist already, such as those to a judge.

    `items` is the number of items that they are about, `output_rule` how the tokens of answers were
    estimated, `per_minute` the number of requests that a model takes.
    """
    counts: dict[tuple[str, str], _Count] = {}
    for model, request, answer_tokens, stored in requests:
        place = (model.name, request.task)
        if place not in counts:
            counts[place] = _Count(model, request.task)
        counts[place].add(request, answer_tokens, stored=stored)
    return _plan([*counts.values()], prices, per_minute, items=items, output_rule=output_rule)


class _Count:
    """The sums of one row; of a model on this machine only calls and images are counted."""

    def __init__(self, model: Model, task_id: str) -> None:
        identity = model.identity
        self.model, self.task = model, task_id
        self.paid = "endpoint" in identity
        self.vendors_name = identity.get("model", "") if self.paid else ""
        self.counts: Counter[str] = Counter()
        """Counts by the name of their field in `PlanRow`; `image_tokens` of known rules only."""
        self.declined: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._blind = identity.get("baseline") == "blind"
        self._fit = Fit.of(identity)
        self._system_tokens = text_tokens(identity.get("system_prompt", ""))

    def add(self, request: Request, answer_tokens: int, *, stored: bool) -> None:
        if stored:
            self.counts["stored"] += 1
            return
        if self._blind:
            request = replace(request, images=())
        images = request.images
        self.counts.update(calls=1, images=len(images))
        if not self.paid:
            return
        text, of_images = request_tokens(request, self.vendors_name, self._fit)
        self.unknown[SMALLER] += sum(map(self._fit.touches, images))
        self.unknown[NO_RULE] += len(images) if of_images is None else 0
        self.counts.update(
            text_tokens=text + self._system_tokens,
            image_tokens=of_images or 0,
            output_tokens=answer_tokens,
        )

    def row(self, prices: Prices | None) -> PlanRow:
        """The row, with its cost where that is known."""
        counts, is_known = self.counts, not self.unknown[NO_RULE]
        input_tokens = counts["text_tokens"] + counts["image_tokens"] if is_known else None
        money: float | None = None
        if prices and (not self.paid or not counts["calls"]):
            money = 0.0
        elif prices and input_tokens is not None:
            price = prices.price(self.vendors_name)
            money = price.of(input_tokens, counts["output_tokens"]) if price else None
        return PlanRow(
            model=self.model.name,
            task=self.task,
            calls=counts["calls"],
            stored=counts["stored"],
            images=counts["images"],
            text_tokens=counts["text_tokens"],
            image_tokens=counts["image_tokens"] if is_known else None,
            input_tokens=input_tokens,
            output_tokens=counts["output_tokens"],
            money=money,
            declined=dict(self.declined),
            # Of a model on this machine nothing is estimated.
            unknown=dict(+self.unknown) if self.paid else {},
        )


def _count_requests(contents: RunContents, model: Model, folder: RunFolder) -> Iterator[_Count]:
    """The requests to a model, task by task in the items' order."""
    heads = ResponseStore(folder).known(model.name)
    counts: dict[str, _Count] = {}
    readings = contents.readings(model, folder)
    for item in contents.sent_items:
        if item.task not in counts:
            counts[item.task] = _Count(model, item.task)
        count = counts[item.task]
        answer = _answer_tokens(item) if count.paid else 0
        for element in contents.requests_of(item, model, readings):
            if isinstance(element, Skipped):
                count.declined[element.reason] += element.requests
                continue
            request = element.request if isinstance(element, Unread) else element
            waits = isinstance(element, Unread) and element.failure is None
            stored = _is_stored(request, model, heads)
            count.add(request, answer, stored=stored)
            if not stored and waits and item.transcription is None:
                count.unknown[UNREAD] += 1
            if not stored and not answer:
                count.unknown[UNANSWERED] += 1
    yield from counts.values()


def _count_readings(contents: RunContents, folder: RunFolder) -> Iterator[_Count]:
    """The transcriptions that are made before, one row per reader: two models may share one."""
    for reader in dict.fromkeys(contents.readers.values()):
        heads = ResponseStore(folder).known(reader.model.name, readings=True)
        count = _Count(reader.model, READING)
        lengths = {
            name_of_images(item.images): None
            if item.transcription is None
            else text_tokens(item.transcription)
            for item in contents.sent_items
            if count.paid
        }
        for request in contents.reading_requests(reader):
            length = lengths.get(request.item)
            stored = _is_stored(request, reader.model, heads)
            count.add(request, length or 0, stored=stored)
            if length is None and not stored:
                count.unknown[UNREAD] += 1
        yield count


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


def _plan(
    counts: Sequence[_Count],
    prices: Prices | None,
    per_minute: float | None,
    *,
    items: int,
    output_rule: str = OUTPUT_RULE,
) -> Plan:
    rows = [count.row(prices) for count in counts]
    totals = []
    for name, count in {count.model.name: count for count in counts}.items():
        of_model = [row for row in rows if row.model == name]
        calls = sum(row.calls for row in of_model)
        rule = image_rule(count.vendors_name)
        total = PlanTotal(
            model=name,
            calls=calls,
            stored=sum(row.stored for row in of_model),
            image_tokens=_sum([row.image_tokens for row in of_model]),
            input_tokens=_sum([row.input_tokens for row in of_model]),
            output_tokens=sum(row.output_tokens for row in of_model),
            money=_sum([row.money for row in of_model]),
            hours=calls / per_minute / 60 if per_minute and count.paid else None,
            counted_by=rule.source if rule else "",
        )
        totals.append(total)
    return Plan(
        items=items,
        rows=tuple(rows),
        totals=tuple(totals),
        output_rule=output_rule,
        currency=prices.currency if prices else "",
        prices_seen=prices.seen if prices else "",
    )


def _sum(counts: Sequence[_Number | None]) -> _Number | None:
    """The sum; None if a part is unknown."""
    numbers = [count for count in counts if count is not None]
    return sum(numbers[1:], numbers[0]) if len(numbers) == len(counts) else None
