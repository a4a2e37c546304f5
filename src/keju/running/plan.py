"""Plan of a run: the selected items, their requests, and the estimated cost. Sends nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from keju.definitions import has_reference, task
from keju.definitions.pair_forms import STEP as PAIRS_STEP
from keju.definitions.pair_forms import pair_form
from keju.items import Item, Request, without_images
from keju.models import Fit, Model
from keju.running.contents import Later, RunContents, Skipped, Unread
from keju.running.key import Slot, key_of
from keju.running.pair_reducing import reduce_pairs
from keju.running.plan_records import OUTPUT_RULE, READING, PairPlan, Plan, PlanRow, PlanTotal
from keju.running.prices import Prices
from keju.running.readings import name_of_images, readers_of
from keju.running.store import ResponseStore
from keju.running.tokens import image_rule, request_tokens, text_tokens, texts_of
from keju.runs import RunFolder
from keju.texts import _

UNREAD = "texts that are yet to be read, of unknown length"
UNANSWERED = "answers to items without a reference, of unknown length"
SMALLER = "images that will be made smaller, counted by their bytes as stored"
NO_RULE = _("images, which no known rule counts for this model")

SIZES = (20, 10, 5)
"""Sizes of the reduced forms of pair tasks that a plan shows: the first that is below the largest
gallery and leaves a candidate that is not relevant."""

_FRAMING = len('{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,"}},')
_A_BOX = "[0000, 0000, 0000, 0000],"
_YES_OR_SHARE = "Yes"


def item_to_count(item: Item) -> Item:
    """The item without the parts that neither a request nor the length of an answer depends on."""
    steps = tuple(step for step in item.provenance if step.step == PAIRS_STEP)
    return replace(item, lines=(), metadata={}, provenance=steps)


def estimate(
    contents: RunContents,
    folder: RunFolder,
    *,
    prices: Prices | None = None,
    per_minute: float | None = None,
) -> Plan:
    """Count the requests of a run to each model, and estimate their tokens.

    Args:
        contents: what the run sends; its items still have their references (`item_to_count`).
        folder: the run; responses that it contains are not counted.
        prices: the prices of a price file.
        per_minute: the number of requests that a model takes per minute.

    Raises:
        DataError: see `request_for`; or a stored response is damaged.
        UsageError: there are not enough examples.
    """
    if contents.examples:
        contents.examples.check(contents.items, contents.variants)
    counts = list(_reading_rows(contents, folder))
    for model in contents.models:
        counts += _rows(contents, model, folder)
    plan = _plan(counts, len(contents.sent_items), prices, per_minute)
    plan = replace(plan, identities={model.name: model.identity for model in contents.models})
    if contents.selection.pairs is not None:
        return plan
    return _with_forms(plan, contents, folder, prices, per_minute)


def _plan(
    counts: Sequence[_Count],
    items: int,
    prices: Prices | None,
    per_minute: float | None,
    output_rule: str = OUTPUT_RULE,
) -> Plan:
    rows = tuple(count.row(prices) for count in counts)
    return Plan(
        items=items,
        rows=rows,
        totals=tuple(_totals(counts, rows, per_minute)),
        output_rule=output_rule,
        currency=prices.currency if prices else "",
        prices_seen=prices.seen if prices else "",
    )


class EstimatedRequest(NamedTuple):
    """One request of a plan: its model, the length of the answer, whether it is already stored."""

    model: Model
    request: Request
    answer_tokens: int
    stored: bool


def plan_of(
    asked: Iterable[EstimatedRequest],
    *,
    items: int,
    output_rule: str,
    prices: Prices | None = None,
    per_minute: float | None = None,
) -> Plan:
    """The plan of requests that exist already, such as those to a judge.

    Args:
        asked: the requests.
        items: the number of items that they are about.
        output_rule: how `EstimatedRequest.answer_tokens` was estimated.
        prices: see `estimate`.
        per_minute: see `estimate`.
    """
    counts: dict[tuple[str, str], _Count] = {}
    for model, request, answer_tokens, stored in asked:
        place = (model.name, request.task)
        count = counts.setdefault(place, _Count(model, request.task))
        count.add(request, answer_tokens, there=stored)
    return _plan(list(counts.values()), items, prices, per_minute, output_rule)


def wire_size(request: Request) -> int:
    """Approximate bytes of a request as sent: base64 takes 4 bytes for every 3."""
    images = sum((ref.size + 2) // 3 * 4 + _FRAMING for ref in request.all_images)
    return images + sum(len(text.encode()) for text in texts_of(request))


def _rows(contents: RunContents, model: Model, folder: RunFolder) -> Iterator[_Count]:
    """The requests to a model, task by task in the items' order."""
    heads = ResponseStore(folder).known(model.name)
    counts: dict[str, _Count] = {}
    readings = contents.readings(model, folder)
    for item in contents.sent_items:
        count = counts.setdefault(item.task, _Count(model, item.task))
        answer = _answer_tokens(item)
        for element in contents.requests_of(item, model, readings):
            if isinstance(element, Skipped):
                count.add_unsupported(element.reason, element.requests)
                continue
            request = element.request if isinstance(element, Later | Unread) else element
            slot = Slot(key_of(request, model), request.item, request.candidate)
            stored = slot in heads
            count.add(request, answer, there=stored)
            if stored:
                continue
            if isinstance(element, Later) and item.transcription is None:
                count.add_unknown(UNREAD)
            if not answer:
                count.add_unknown(UNANSWERED)
    yield from counts.values()


def _reading_rows(contents: RunContents, folder: RunFolder) -> Iterator[_Count]:
    """The transcriptions that are made before, one row per reader: two models may share one."""
    for reader, models in readers_of(contents.models, contents.settings):
        heads = ResponseStore(folder).known(reader.model.name, readings=True)
        count = _Count(reader.model, READING)
        lengths = {
            name_of_images(item.images): None
            if item.transcription is None
            else text_tokens(item.transcription)
            for item in contents.sent_items
        }
        for request in contents.reading_requests(reader, models):
            length = lengths[request.item]
            slot = Slot(key_of(request, reader.model), request.item, request.candidate)
            count.add(request, length or 0, there=slot in heads)
            if length is None and slot not in heads:
                count.add_unknown(UNREAD)
        yield count


def _answer_tokens(item: Item) -> int:
    """The approximate length of an answer (see `OUTPUT_RULE`); 0 where it cannot be estimated."""
    if item.boxes:
        return len(item.boxes) * text_tokens(_A_BOX)
    if task(item.task).of_pairs:
        return text_tokens(_YES_OR_SHARE)
    if not has_reference(item):
        return 0
    return max(1, text_tokens(item.answer or item.answer_simplified))


class _Count:
    """The sums of one row."""

    def __init__(self, model: Model, task_id: str) -> None:
        self.model, self.task = model, task_id
        self.paid = "endpoint" in model.identity
        self.blind = model.identity.get("baseline") == "blind"
        self.vendors_name = model.identity.get("model", "") if self.paid else ""
        self.fit = Fit.of(model.identity)
        self.system_tokens = text_tokens(model.identity.get("system_prompt", ""))
        self.rule = image_rule(self.vendors_name)
        self.calls = self.stored = self.images = self.image_bytes = self.wire_bytes = 0
        self.text_tokens = self.image_tokens = self.output_tokens = 0
        self.declined: dict[str, int] = {}
        self.unknown: dict[str, int] = {}

    def add_unsupported(self, why: str, times: int = 1) -> None:
        self.declined[why] = self.declined.get(why, 0) + times

    def add_unknown(self, what: str, times: int = 1) -> None:
        if self.paid and times:
            self.unknown[what] = self.unknown.get(what, 0) + times

    def add(self, request: Request, answer_tokens: int, *, there: bool) -> None:
        if there:
            self.stored += 1
            return
        if self.blind:
            request = without_images(request)
        self.calls += 1
        self.images += len(request.all_images)
        self.image_bytes += sum(ref.size for ref in request.all_images)
        if not self.paid:
            return
        self.wire_bytes += wire_size(request)
        self.add_unknown(SMALLER, sum(map(self.fit.touches, request.all_images)))
        text, of_images = request_tokens(request, self.vendors_name, self.fit)
        self.text_tokens += text + self.system_tokens
        self.output_tokens += answer_tokens
        self.image_tokens += of_images or 0
        if of_images is None:
            self.add_unknown(NO_RULE, len(request.all_images))

    def row(self, prices: Prices | None) -> PlanRow:
        """The row, with its cost where that is known."""
        known = self.rule is not None or not self.paid or not self.images
        total = self.text_tokens + self.image_tokens
        return PlanRow(
            model=self.model.name,
            task=self.task,
            calls=self.calls,
            stored=self.stored,
            images=self.images,
            image_bytes=self.image_bytes,
            wire_bytes=self.wire_bytes,
            text_tokens=self.text_tokens,
            image_tokens=self.image_tokens if known else None,
            input_tokens=total if known else None,
            output_tokens=self.output_tokens,
            money=self._money(prices, total if known else None),
            declined=self.declined,
            unknown=self.unknown,
        )

    def _money(self, prices: Prices | None, input_tokens: int | None) -> float | None:
        if prices is None or (input_tokens is None and self.calls):
            return None
        if not self.paid or not self.calls:
            return 0.0
        price = prices.price(self.vendors_name)
        return price.of(input_tokens or 0, self.output_tokens) if price else None


def _totals(
    counts: Sequence[_Count], rows: Sequence[PlanRow], per_minute: float | None
) -> Iterator[PlanTotal]:
    """The sum for each model; a sum with an unknown part is unknown."""
    for name in dict.fromkeys(row.model for row in rows):
        of_model = [row for row in rows if row.model == name]
        count = next(count for count in counts if count.model.name == name)
        calls = sum(row.calls for row in of_model)
        yield PlanTotal(
            model=name,
            calls=calls,
            stored=sum(row.stored for row in of_model),
            wire_bytes=sum(row.wire_bytes for row in of_model),
            image_tokens=_sum(row.image_tokens for row in of_model),
            input_tokens=_sum(row.input_tokens for row in of_model),
            output_tokens=sum(row.output_tokens for row in of_model),
            money=_money(of_model),
            hours=calls / per_minute / 60 if per_minute and count.paid else None,
            counted_by=count.rule.source if count.rule else "",
        )


def _sum(values: Iterable[int | None]) -> int | None:
    numbers = list(values)
    return None if None in numbers else sum(value or 0 for value in numbers)


def _money(rows: Sequence[PlanRow]) -> float | None:
    sums = [row.money for row in rows]
    return None if None in sums else sum(value or 0.0 for value in sums)


def _with_forms(
    plan: Plan,
    contents: RunContents,
    folder: RunFolder,
    prices: Prices | None,
    per_minute: float | None,
) -> Plan:
    """The plan of a full protocol, with the requests of the reduced forms of its pair tasks."""
    pairs = [item for item in contents.sent_items if task(item.task).of_pairs]
    names = form_names(pairs)
    if not names:
        return plan
    tasks = {item.task for item in pairs}
    pair_plan = replace(plan, rows=tuple(row for row in plan.rows if row.task in tasks))
    forms = list(_form_rows("", pair_plan, contents, per_minute))
    for name in names:
        fewer = dataclasses.replace(
            contents,
            items=reduce_pairs(pairs, pair_form(name)),
            selection=replace(contents.selection, pairs=name, shard=None),
        )
        reduced = estimate(fewer, folder, prices=prices, per_minute=per_minute)
        forms += _form_rows(name, reduced, contents, per_minute)
    return replace(plan, forms=tuple(forms))


def form_names(items: Sequence[Item]) -> list[str]:
    """The reduced forms that make items of pair tasks smaller, by name."""
    largest = max((len(item.images) - 1 for item in items), default=0)
    relevant = max((len(item.relevant) for item in items), default=0)
    size = next((size for size in SIZES if relevant < size < largest), 0)
    if not size:
        return []
    once = ["once"] if _asked_both_ways(items) else []
    return [*once, f"gallery={size}"]


def _asked_both_ways(items: Sequence[Item]) -> bool:
    """Whether any pair of images is compared in both directions."""
    seen: set[tuple[str, str, str, str]] = set()
    for item in items:
        first = item.images[0].sha256
        for ref in item.images[1:]:
            if (item.task, item.query, ref.sha256, first) in seen:
                return True
            seen.add((item.task, item.query, first, ref.sha256))
    return False


def _form_rows(
    name: str, plan: Plan, contents: RunContents, per_minute: float | None
) -> Iterator[PairPlan]:
    for model in contents.models:
        rows = [row for row in plan.rows if row.model == model.name]
        calls = sum(row.calls for row in rows)
        timed = per_minute and "endpoint" in model.identity
        yield PairPlan(
            model=model.name,
            form=name,
            calls=calls,
            a_round=calls // contents.selection.rounds,
            input_tokens=_sum(row.input_tokens for row in rows),
            output_tokens=sum(row.output_tokens for row in rows),
            money=_money(rows),
            hours=calls / per_minute / 60 if timed and per_minute else None,
        )
