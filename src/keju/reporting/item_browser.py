"""Data of the report's item browser: a short index of all items, and their details in chunks.

The index contains what lists and sorting need; a chunk is loaded when one of its items is opened or
searched. Keys of details are short, because there is one for each answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from keju.analysis.asked_items import Answer, AskedItem, Run
from keju.analysis.confusions import Mistakes
from keju.analysis.differences import Difference, differences
from keju.analysis.labels import metric_definition
from keju.analysis.order_errors import OrderErrors, true_order
from keju.analysis.page_texts import PageText
from keju.analysis.prompts_sent import prompts_sent
from keju.analysis.reading_patterns import PatternCounts, lines_as_read
from keju.analysis.run_set import RunSet, main_values
from keju.datasets.thumbnails import Thumbnails
from keju.definitions import Query, counted_status, missing_reference, options_of, query_of, task
from keju.extraction.rules import explain_origin
from keju.files import encode_stored
from keju.items import ImageRef, Item, Protocol, Response, Score
from keju.reporting.stages import show_stage
from keju.reporting.terms import PATTERNS
from keju.runs import RecordList
from keju.scoring import PROTOCOLS, metric_names
from keju.text import answer_part
from keju.texts import _
from keju.words import Words

_LONGEST = 20_000
_LONGEST_REASONING = 4_000
"""Maximum characters of displayed reasoning of one answer; some models write 50,000."""

_MOST_RELEVANT = 12
_MOST_RANKED = 5
_DIGITS = 4
_PLACES = re.compile(r"(?:^|= )([0-9]+)")

PER_CHUNK = 50

_CHUNKS_IN_MEMORY = 200
"""Chunks up to which they are kept in memory; more are in a temporary file."""

Json = dict[str, Any]


class BrowserPart(NamedTuple):
    """The items of one page of the browser.

    Attributes:
        first: the place of the first item in the report.
        size: the number of items.
        items: the index of the items as JSON.
        chunks: the numbers of the first chunk, and of the first one after the last.
        pictures: JPEG files that the items refer to by number.
    """

    first: int
    size: int
    items: bytes
    chunks: tuple[int, int]
    pictures: list[bytes]


class Browser:
    """Index, chunks and images of a report; `encoded_chunks` are the chunks as JSON.

    `parts` are the pages of items, one unless there are more items than `per_part`.

    `mistakes` are those of all transcriptions but the baselines', `orders` their reading order and
    `patterns` the patterns in it.

    The images are scaled in the constructor, so that omitted ones are known from then on.

    Args:
        run_set: the data of the report.
        words: the language of the page.
        images: the images of each run.
        per_part: the number of items on a page (a multiple of `PER_CHUNK`); 0 for all of them.
    """

    def __init__(
        self,
        run_set: RunSet,
        words: Words,
        images: Mapping[Path, Thumbnails] = MappingProxyType({}),
        *,
        per_part: int = 0,
    ) -> None:
        self._gathered = run_set
        self._words = words
        self._images = images
        self._models = {name: place for place, name in enumerate(run_set.models)}
        self._kinds: dict[tuple[str, str], int] = {}
        self._numbers: dict[tuple[Path, int], int] = {}
        self.mistakes = Mistakes()
        self.orders = OrderErrors()
        self.patterns = PatternCounts()
        self._pictures: list[bytes] = []
        self.parts: list[BrowserPart] = []
        self.encoded_chunks: RecordList[bytes] = RecordList(bytes, most=_CHUNKS_IN_MEMORY)
        self._items: list[list[Any]] = []
        stage = _("Preparing items and images")
        every = iter(run_set.asked)
        done = 0
        while few := list(islice(every, PER_CHUNK)):
            if per_part and len(self._items) >= per_part:
                self._end_part()
            show_stage(stage, done, len(run_set.asked))
            texts = [run_set.page_texts[done + at] for at in range(len(few))]
            done += len(few)
            self._items += map(self._line, few)
            details = list(map(self._details, few, texts))
            self.encoded_chunks.append(msgspec.json.encode(details, enc_hook=encode_stored))
        self._end_part()

    def _end_part(self) -> None:
        """Close the page of the items since the last call; images are numbered in each page."""
        last = self.parts[-1] if self.parts else None
        self.parts.append(
            BrowserPart(
                first=last.first + last.size if last else 0,
                size=len(self._items),
                items=msgspec.json.encode(self._items, enc_hook=encode_stored),
                chunks=(last.chunks[1] if last else 0, len(self.encoded_chunks)),
                pictures=self._pictures,
            )
        )
        self._items, self._pictures, self._numbers = [], [], {}

    @property
    def chunks(self) -> Iterator[list[Json]]:
        """The details of the items, `PER_CHUNK` at a time."""
        return (msgspec.json.decode(each) for each in self.encoded_chunks)

    def chunks_of(self, part: BrowserPart) -> Iterator[bytes]:
        """The chunks of a page as JSON."""
        return (self.encoded_chunks[number] for number in range(*part.chunks))

    @property
    def index(self) -> Json:
        """The index of the first page, decoded (`index_of`)."""
        found = self.index_of(self.parts[0])
        return found | {"items": msgspec.json.decode(found["items"])}

    def index_of(self, part: BrowserPart) -> Json:
        """The items of a page in the datasets' order: ``[id, kind, [strict main of each model]]``.

        A main value is null where an answer has no score, false where the model gave no answer.
        """
        return {
            "models": self._gathered.models,
            "floors": [
                model_responses.role == "baseline"
                for model_responses in self._gathered.by_model.values()
            ],
            "kinds": [_kind(*key, self._words) for key in self._kinds],
            "items": msgspec.Raw(part.items),
            "per_chunk": PER_CHUNK,
            "patterns": {
                name: [self._words(name), self._words(sense.what)]
                for name, sense in PATTERNS.items()
            },
            "doubtful": self.patterns.doubtful,
        }

    def _line(self, asked: AskedItem) -> list[Any]:
        item = asked.item
        mains = main_values(asked)
        kind = self._kinds.setdefault((item.task, item.query), len(self._kinds))
        answered = {answer.model for answer in asked.answers}
        values = [
            _ends(*mains[model]) if model in mains
            else None if model in answered else False
            for model in self._models
        ]  # fmt: skip
        return [item.id, kind, values]

    def _details(self, asked: AskedItem, text: PageText) -> Json:
        item = asked.item
        truth = item.answer or item.answer_simplified
        prompts, sent = prompts_sent(asked, self._gathered)
        row: Json = {
            "question": "\n".join(each.text for each in prompts),
            "options": list(options_of(item)),
            "truth": truth,
            "note": " · ".join(": ".join(pair) for pair in item.metadata.items()),
            "images": self._show(asked.run, _select_images(item)),
            "answers": [
                self._answer(asked, truth, answer, said)
                for answer, said in zip(asked.answers, text.said or repeat(""), strict=False)
            ],
        }
        if reason := missing_reference(item):
            row |= {"truth": "", "no_truth": self._words(reason)}
        if len(prompts) > 1:
            row["prompts"] = prompts
        if not sent:
            row["unsent"] = True
        if item.relevant:
            row["gallery"] = len(item.images) - 1
            row["truth"] = ", ".join(map(str, item.relevant))
        if any("order" in answer for answer in row["answers"]):
            row["order"] = true_order(item)
        if any("diff" in answer for answer in row["answers"]):
            row["counted"] = "".join(part.truth for part in differences(truth, ""))
        return row

    def _answer(self, asked: AskedItem, truth: str, answer: Answer, taken: str) -> Json:
        item, response = asked.item, answer.response
        said = answer_part(response.text)
        row: Json = {"m": self._models[answer.model], "text": said[:_LONGEST]}
        row |= _reasoning(response)
        row |= _scores(item, answer.scores, self._words)
        if (status := counted_status(item, response.status)) != "answered":
            row["status"] = self._words(status)
        if response.round > 1:
            row["round"] = response.round
        if response.error is not None:
            row["error"] = f"{response.error.kind}: {response.error.message}"[:_LONGEST]
        if item.relevant:
            row["ranked"] = self._describe_ranking(asked, response.text)
        if query_of(item).form == "transcription" and said:
            parts = differences(truth, said)
            row["diff"] = list(_compact(parts))
            if self._gathered.by_model[answer.model].role != "baseline":
                self.mistakes.add(answer.model, parts)
                row |= self._reading(answer.model, item, response, taken)
        return row

    def _reading(self, model: str, item: Item, response: Response, taken: str) -> Json:
        """The pattern of a transcription, and the data for drawing its order, if it is wrong."""
        row: Json = {}
        drawn = self.orders.add(model, item, response)
        if pattern := self.patterns.add(model, item, response, taken):
            row["pattern"] = pattern
            drawn = drawn or lines_as_read(item, response)
            if not drawn:
                row["undrawn"] = True
        return row | ({"order": drawn} if drawn else {})

    def _describe_ranking(self, asked: AskedItem, best: str) -> Json:
        """The candidates that a model ranks first, with images; the number of ties at the top.

        Ties have no order, so they are shown all or not at all.
        """
        images = asked.item.images
        shown: list[Json] = []
        for rank, places in _ties(best):
            if len(shown) + len(places) > _MOST_RANKED:
                break
            shown += [
                {
                    "rank": f"{rank}{'=' if len(places) > 1 else ''}",
                    "place": place,
                    "true": place in asked.item.relevant,
                    "images": self._show(asked.run, [images[place]]),
                }
                for place in places
                if 0 < place < len(images)
            ]
        return {"shown": shown, "tie": 0 if shown else len(next(_ties(best), (1, []))[1])}

    def _show(self, run: Run, refs: Iterable[ImageRef]) -> list[int]:
        """The numbers of the images that can be shown."""
        shown: list[int] = []
        if (images := self._images.get(run.path)) is None:
            return shown
        for place in map(images.index, refs):
            if place is not None:
                key = (run.path, place)
                if key not in self._numbers:
                    self._numbers[key] = len(self._pictures)
                    self._pictures.append(images.copies[place])
                shown.append(self._numbers[key])
        return shown


def _kind(name: str, query: str, words: Words) -> Json:
    known = task(name)
    asked = next(each for each in known.queries if each.name == query)
    return {
        "task": name,
        "name": words.task_title(name) + (f" · {query}" if query else ""),
        "metrics": [
            [protocol, metric, place == 0, words(metric_definition(name, query, protocol, metric))]
            for protocol in PROTOCOLS
            for place, metric in enumerate(_metrics(asked, protocol, name))
        ],
    }


def _metrics(query: Query, protocol: Protocol, name: str) -> tuple[str, ...]:
    known = task(name)
    return metric_names(query, protocol, known.benchmark, of_pairs=known.of_pairs)


def _reasoning(response: Response) -> Json:
    """Content as it was returned if it contains reasoning, and reasoning from a separate field."""
    inside = response.text if answer_part(response.text) != response.text else ""
    found = {"content": inside, "thought": response.thinking}
    return {name: _shorten(text) for name, text in found.items() if text}


def _shorten(text: str) -> str:
    if len(text) <= _LONGEST_REASONING:
        return text
    half = _LONGEST_REASONING // 2
    return f"{text[:half]}\n… ({len(text):,}) …\n{text[-half:]}"


def _scores(item: Item, scores: Sequence[Score], words: Words) -> Json:
    """The values in the order of the kind's metrics; why one is missing; the extracted answer."""
    found = {(score.protocol, score.metric): score for score in scores}
    query = query_of(item)
    order = [(protocol, m) for protocol in PROTOCOLS for m in _metrics(query, protocol, item.task)]
    values = [
        _ends(score.value, score.value_if_right or 0.0)
        if (score := found.get(key)) and score.value is not None
        else None
        for key in order
    ]
    row: Json = {"values": values}
    reasons = dict.fromkeys(score.reason for score in scores if score.reason)
    if reasons:
        row["reasons"] = list(map(words, reasons))
    verdict: str = counted_status(item, next((score.verdict for score in scores), "ok"))
    if any(score.read_by == "unclear" for score in scores):
        verdict = _("unclear")
    if verdict not in ("ok", "answered"):
        row["verdict"] = words(verdict)
    read_out = next((s for s in scores if s.protocol == "strict" and s.extracted), None)
    if read_out is not None:
        row["taken"] = [
            read_out.extracted[:_LONGEST],
            words(explain_origin(read_out.extracted_from)),
        ]
    return row


def _ends(value: float, if_right: float) -> float | list[float]:
    """A value for the page: both ends while its answer is unclear, else one number."""
    ends = [round(value, _DIGITS), round(if_right, _DIGITS)]
    return ends if ends[0] != ends[1] else ends[0]


def _ties(best: str) -> Iterator[tuple[int, list[int]]]:
    """Rank and positions of ties, in the format of a ranking in scoring: ``3 (1) > 1 (.5) = 2``.

    In a truncated ranking the last rank may be shared by more than are listed.
    """
    rank = 1
    for group in best.split(" > "):
        places = [int(place) for place in _PLACES.findall(group)]
        if places:
            yield rank, places
        rank += len(places)


def _compact(parts: Iterable[Difference]) -> Iterator[int | str]:
    """A difference without the reference: n equal, -n missing, 0 a line break.

    A different text of the answer is written with its kind before it: v, s or i.
    """
    for part in parts:
        if part.kind == "brk":
            yield 0
        elif part.kind == "eq":
            yield len(part.truth)
        elif part.kind == "del":
            yield -len(part.truth)
        else:
            yield part.kind[0] + part.answer


def _select_images(item: Item) -> tuple[ImageRef, ...]:
    """An item's images; of a gallery the query image, and its matches."""
    if not item.relevant:
        return item.images
    places = [place for place in item.relevant if place < len(item.images)]
    return (*item.images[:1], *(item.images[place] for place in places[:_MOST_RELEVANT]))
