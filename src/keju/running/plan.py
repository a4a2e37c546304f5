"""Plan of a run: the selected items, their requests, and the estimated cost. Sends nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.definitions import has_reference, task
from keju.definitions.pair_forms import STEP as PAIRS_STEP
from keju.definitions.pair_forms import pair_form
from keju.items import Item, Request, without_images
from keju.models import Fit, Model
from keju.models.base import ENDPOINTS, PUBLIC_ENDPOINT
from keju.running.cache_key import key_of
from keju.running.dataset_items import DatasetItems, items_at
from keju.running.examples import Examples, has_examples
from keju.running.item_places import shard_places
from keju.running.pair_reducing import reduce_pairs
from keju.running.plan_records import OUTPUT_RULE, READING, Plan, PlanRow, PlanTotal
from keju.running.prices import MachinePrice, Prices
from keju.running.reading import (
    Reader,
    is_read_by,
    name_of_images,
    reader_of,
    readers_of,
    reading_requests,
    unsupported_reason,
)
from keju.running.requests import request_count, request_for, requests_for
from keju.running.selecting import RequestVariant, Selection, skip_reason
from keju.running.store import RequestId, ResponseStore
from keju.running.tokens import image_rule, request_tokens, text_tokens, texts_of
from keju.runs import RunFolder
from keju.texts import _

UNREAD = "texts that are yet to be read, of unknown length"
UNANSWERED = "answers to items without a reference, of unknown length"
SMALLER = "images that will be made smaller, counted by their bytes as stored"
NO_RULE = _("images, which no known rule counts for this model")

_FRAMING = len('{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,"}},')
_A_BOX = "[0000, 0000, 0000, 0000],"
_YES_OR_SHARE = "Yes"


class PlannedItems(DatasetItems):
    """The items of a dataset as a plan needs them, read once.

    Raises:
        DataError: see `DatasetItems`.
    """

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset, _item_to_count)

    def selected(self, selection: Selection) -> Sequence[Item]:
        """The items that a run would select; candidates of a reduced form in the dataset's order.

        Raises:
            UsageError: see `select` and `reduce_pairs`.
        """
        chosen = super().selected(selection)
        if selection.pairs is not None:
            chosen = reduce_pairs(chosen, pair_form(selection.pairs))
        if not selection.shard:
            return chosen
        return items_at(chosen, shard_places(chosen, selection.shard))

    def examples(self, items: Sequence[Item], selection: Selection) -> Examples:
        """The examples of the selected items.

        Raises:
            UsageError: there are not enough.
        """
        examples = Examples(self.items if has_examples(selection.wordings) else ())
        examples.check(items, selection.variants)
        return examples


def _item_to_count(item: Item) -> Item:
    """The item without the parts that neither a request nor the length of an answer depends on."""
    if item.split == "reference":
        return item
    steps = tuple(each for each in item.provenance if each.step == PAIRS_STEP)
    return replace(item, lines=(), metadata={}, provenance=steps)


def estimate_items(
    items: Sequence[Item],
    models: Sequence[Model],
    selection: Selection,
    *,
    folder: RunFolder | None = None,
    prices: Prices | None = None,
    per_minute: float | None = None,
    examples: Examples | None = None,
    machine_price: MachinePrice | None = None,
) -> Plan:
    """Count the requests of a run to each model, and estimate their tokens.

    Args:
        items: the selected items (`PlannedItems.selected`).
        models: the models.
        selection: the prompt variants.
        folder: the run to resume: responses that it contains are not counted.
        prices: the prices of a price file.
        per_minute: the number of requests that a model takes per minute.
        examples: what may precede the questions (`PlannedItems.examples`).
        machine_price: the price of an hour of one's own server.

    Raises:
        DataError: see `request_for`; or run.json is damaged or of another format.
    """
    examples = examples or Examples()
    stored_run = RunFolder.open(folder.path) if folder is not None and folder.exists() else None
    rows = [
        *_reading_rows(models, items, selection, stored_run, examples),
        *(row for model in models for row in _rows(model, items, selection, stored_run, examples)),
    ]
    return _plan(rows, len(items), prices, per_minute, machine_price=machine_price)


def on_own_server(model: Model) -> bool:
    """Whether a model is on a server other than its vendor's, which may cost by the hour."""
    endpoint = model.identity.get("endpoint", "")
    own = endpoint.startswith("http") and endpoint != PUBLIC_ENDPOINT
    return own and model.identity.get("kind") in ENDPOINTS


def _plan(
    counts: Sequence[_Count],
    items: int,
    prices: Prices | None,
    per_minute: float | None,
    output_rule: str = OUTPUT_RULE,
    *,
    machine_price: MachinePrice | None = None,
) -> Plan:
    rows = tuple(count.row(prices) for count in counts)
    return Plan(
        items=items,
        rows=rows,
        totals=tuple(_totals(counts, rows, per_minute, machine_price)),
        output_rule=output_rule,
        currency=prices.currency if prices else "",
        prices_seen=prices.seen if prices else "",
        server_currency=machine_price.currency if machine_price else "",
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
        prices: see `estimate_items`.
        per_minute: see `estimate_items`.
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


def _rows(
    model: Model,
    items: Sequence[Item],
    selection: Selection,
    folder: RunFolder | None,
    examples: Examples,
) -> Iterator[_Count]:
    """The requests to a model, task by task in the items' order."""
    known = ResponseStore(folder).known(model.name) if folder else {}
    counts: dict[str, _Count] = {}
    variants = selection.variants_for(model.name)
    for item in items:
        count = counts.setdefault(item.task, _Count(model, item.task))
        answer = _answer_tokens(item)
        for variant in variants:
            if why := skip_reason(item, variant):
                count.add_unsupported(why, request_count(item))
                continue
            reads = reader_of(model, variant.setting) is not None
            shown = examples.of(item, variant)
            first = request_for(item, variant, examples=shown) if reads else None
            reading = (item.transcription or "") if reads else None
            for request in requests_for(item, variant, reading, shown):
                if said := unsupported_reason(model, first or request):
                    count.add_unsupported(said)
                    continue
                there = RequestId.of(request) in known
                count.add(request, answer, there=there)
                if reads and item.transcription is None and not there:
                    count.add_unknown(UNREAD)
                if not answer and not there:
                    count.add_unknown(UNANSWERED)
    yield from counts.values()


def _reading_rows(
    models: Sequence[Model],
    items: Sequence[Item],
    selection: Selection,
    folder: RunFolder | None,
    examples: Examples,
) -> Iterator[_Count]:
    """The transcriptions that are made before, one row per reader: two models may share one."""
    settings = [variant.setting for variant in selection.variants]
    for reader, asking in readers_of(models, settings):
        turns = partial(_turns, reader, asking, items, selection, examples)
        stored = {each.key for each in folder.readings(reader.model.name)} if folder else set()
        count = _Count(reader.model, READING)
        lengths = {
            name_of_images(item.images): None
            if item.transcription is None
            else text_tokens(item.transcription)
            for item, _ in turns()
        }
        for request in reading_requests(reader, turns()):
            length = lengths[request.item]
            there = key_of(request, reader.model) in stored
            count.add(request, length or 0, there=there)
            if length is None and not there:
                count.add_unknown(UNREAD)
        yield count


def _turns(
    reader: Reader,
    models: Iterable[Model],
    items: Sequence[Item],
    selection: Selection,
    examples: Examples,
) -> Iterator[tuple[Item, RequestVariant]]:
    """The items that a reader reads for models."""
    for model in models:
        for item in items:
            for variant in selection.variants:
                if is_read_by(reader, model, item, variant, examples):
                    yield item, variant


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
    counts: Sequence[_Count],
    rows: Sequence[PlanRow],
    per_minute: float | None,
    machine_price: MachinePrice | None,
) -> Iterator[PlanTotal]:
    """The sum for each model; a sum with an unknown part is unknown."""
    for name in dict.fromkeys(row.model for row in rows):
        of_model = [row for row in rows if row.model == name]
        count = next(each for each in counts if each.model.name == name)
        calls = sum(row.calls for row in of_model)
        hours = calls / per_minute / 60 if per_minute and count.paid else None
        money = _money(of_model)
        own_server = on_own_server(count.model)
        hourly = own_server and money is None and machine_price is not None and hours is not None
        yield PlanTotal(
            model=name,
            calls=calls,
            stored=sum(row.stored for row in of_model),
            wire_bytes=sum(row.wire_bytes for row in of_model),
            image_tokens=_sum(row.image_tokens for row in of_model),
            input_tokens=_sum(row.input_tokens for row in of_model),
            output_tokens=sum(row.output_tokens for row in of_model),
            money=money,
            hours=hours,
            counted_by=count.rule.source if count.rule else "",
            own_server=own_server,
            server_cost=(hours or 0.0) * machine_price.value if hourly and machine_price else None,
        )


def _sum(values: Iterable[int | None]) -> int | None:
    found = list(values)
    return None if None in found else sum(value or 0 for value in found)


def _money(rows: Sequence[PlanRow]) -> float | None:
    found = [row.money for row in rows]
    return None if None in found else sum(value or 0.0 for value in found)
