"""`AskedItems`: the items of a report with every model's answers, on disk if there are many."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, overload

import msgspec
import numpy as np

from keju.analysis.packed_scores import PackedScores, ScorePacker
from keju.items import Item, Response, Score
from keju.runs import RecordList, RunManifest, record_list
from keju.scoring import ItemName

ItemKey = tuple[str, str, str, str]
"""Dataset hash, task, query and id: the identity of an item over several runs."""


def item_name(item: Item) -> ItemName:
    """Task, query and id of an item."""
    return item.task, item.query, item.id


class Run(NamedTuple):
    """One run: its name in the report, its directory and its manifest."""

    name: str
    path: Path
    manifest: RunManifest

    @property
    def dataset_path(self) -> Path | None:
        """The run's dataset, where the run names one."""
        named = self.manifest.dataset_path
        return self.path / named if named else None


class AskedItem(NamedTuple):
    """An item, the run whose dataset has its images, and every model's answer to it.

    The item's id is unique in the report: where two datasets have the same id for a task and query,
    the dataset's name is added to it, here and in the scores. Responses keep the stored id.
    """

    item: Item
    run: Run
    answers: Sequence[Answer]


class Answer:
    """A model's response to an item, with its scores; `model` is its name in this report.

    In a pair task there is one per item: the ranking, which has the scores.
    """

    __slots__ = ("_response", "_scores", "model")

    def __init__(self, model: str, response: Response, scores: list[Score]) -> None:
        self.model = model
        self._response: Response | None = response
        self._scores: list[Score] | None = scores

    @property
    def response(self) -> Response:
        """The response."""
        assert self._response is not None
        return self._response

    @property
    def scores(self) -> list[Score]:
        """The scores of the response."""
        assert self._scores is not None
        return self._scores


class _Packed(msgspec.Struct, array_like=True, frozen=True):
    model: int
    response: msgspec.Raw
    scores: msgspec.Raw


_encode = msgspec.msgpack.Encoder().encode
_response = msgspec.msgpack.Decoder(Response)
_scores = msgspec.msgpack.Decoder(list[PackedScores])


class _StoredAnswer(Answer):
    """An answer whose response and scores are decoded when they are needed."""

    __slots__ = ("_packed", "_packer")

    def __init__(self, model: str, packed: _Packed, packer: ScorePacker) -> None:
        self.model = model
        self._response = None
        self._scores = None
        self._packed = packed
        self._packer = packer

    @property
    def response(self) -> Response:
        if self._response is None:
            self._response = _response.decode(self._packed.response)
        return self._response

    @property
    def scores(self) -> list[Score]:
        if self._scores is None:
            packed = _scores.decode(self._packed.scores)
            self._scores = [score for each in packed for score in self._packer.unpack(each)]
        return self._scores


class _Answers:
    """Answers in the order in which they were added: objects, or records on disk if many."""

    def __init__(self) -> None:
        self._whole: list[Answer] = []
        self._packed: RecordList[_Packed] | None = None
        self._packer = ScorePacker()
        self._models: dict[str, int] = {}
        self._names: list[str] = []

    def append(self, answer: Answer) -> None:
        if self._packed is None:
            self._whole.append(answer)
            if len(self._whole) > record_list.MOST_IN_MEMORY:
                self._packed = RecordList(_Packed, map(self._pack, self._whole), most=0)
                self._whole = []
        else:
            self._packed.append(self._pack(answer))

    def __getitem__(self, place: int) -> Answer:
        if self._packed is None:
            return self._whole[place]
        packed = self._packed[place]
        return _StoredAnswer(self._names[packed.model], packed, self._packer)

    def _pack(self, answer: Answer) -> _Packed:
        number = self._models.setdefault(answer.model, len(self._models))
        if number == len(self._names):
            self._names.append(answer.model)
        scores = _encode(list(self._packer.pack(answer.scores)))
        return _Packed(number, msgspec.Raw(_encode(answer.response)), msgspec.Raw(scores))


class _AnswersOfItem(Sequence[Answer]):
    """The answers to one item; each is read when it is accessed."""

    def __init__(self, answers: _Answers, places: Sequence[int]) -> None:
        self._answers = answers
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> list[Answer]: ...
    def __getitem__(self, place: int | slice) -> Answer | list[Answer]:
        if isinstance(place, slice):
            return [self._answers[each] for each in self._places[place]]
        return self._answers[self._places[place]]

    def __iter__(self) -> Iterator[Answer]:
        return map(self._answers.__getitem__, self._places)


class AskedItems:
    """The items of a report in their order, with the answers to each; iterated, read one by one.

    Items and answers are in memory up to `keju.runs.record_list.MOST_IN_MEMORY` of each; more are
    in temporary files. Then about 200 bytes of memory are used per item and 40 per answer, and each
    access reads new records.
    """

    def __init__(self) -> None:
        self._items: RecordList[Item] = RecordList(Item)
        self._runs: list[Run] = []
        self._run_of = array("H")
        self._places: dict[tuple[str, str, str], dict[str, int]] = {}
        self._by_query: dict[tuple[str, str], list[dict[str, int]]] = {}
        self._renamed_places: set[int] = set()
        self._renamed: dict[ItemName, int] = {}
        self._answers = _Answers()
        self._answered = array("q")
        self._models: dict[str, int] = {}
        self._order = np.empty(0, np.int64)
        self._starts = np.zeros(1, np.int64)

    def add_item(self, run: Run, item: Item, name: str) -> None:
        """Add an item of a run; `name` is its id in the report. Known items are not added again."""
        group = (run.manifest.items_key, item.task, item.query)
        if group not in self._places:
            self._places[group] = {}
            self._by_query.setdefault(group[1:], []).append(self._places[group])
        places = self._places[group]
        if item.id in places:
            return
        place = places[item.id] = len(self._items)
        if not self._runs or self._runs[-1] is not run:
            self._runs.append(run)
        self._run_of.append(len(self._runs) - 1)
        if name != item.id:
            self._renamed_places.add(place)
            self._renamed[item.task, item.query, name] = place
            item = msgspec.structs.replace(item, id=name)
        self._items.append(item)

    def add_answer(self, place: int, answer: Answer) -> None:
        """Add an answer to the item at `place`; call `sort` after the last one."""
        model = self._models.setdefault(answer.model, len(self._models))
        self._answered.extend((place, model, answer.response.round))
        self._answers.append(answer)

    def sort(self, models: Iterable[str]) -> None:
        """Sort the answers to each item by model, in the order of `models`, and by round."""
        ranks = np.zeros(len(self._models) + 1, np.int64)
        for rank, model in enumerate(models):
            if model in self._models:
                ranks[self._models[model]] = rank
        place, model_of, turn = np.array(self._answered, np.int64).reshape(-1, 3).T
        self._order = np.lexsort((turn, ranks[model_of], place))
        self._starts = np.searchsorted(place[self._order], np.arange(len(self._items) + 1))
        self._answered = array("q")

    def place_of(self, key: ItemKey) -> int | None:
        """The index of an item; None where there is none."""
        return self._places.get(key[:3], {}).get(key[3])

    def place_named(self, name: ItemName) -> int | None:
        """The index of the item with this task, query and id in the report."""
        if name in self._renamed:
            return self._renamed[name]
        for places in self._by_query.get(name[:2], ()):
            place = places.get(name[2])
            if place is not None and place not in self._renamed_places:
                return place
        return None

    def item(self, place: int) -> Item:
        """The item at an index."""
        return self._items[place]

    def iter_items(self) -> Iterator[Item]:
        """The items in their order, without their answers."""
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[AskedItem]:
        return (self._with_answers(place, item) for place, item in enumerate(self._items))

    def _with_answers(self, place: int, item: Item) -> AskedItem:
        start, end = self._starts[place : place + 2]
        own = self._order[start:end].tolist()
        return AskedItem(item, self._runs[self._run_of[place]], _AnswersOfItem(self._answers, own))


class ItemsByName(Mapping[ItemName, Item]):
    """The items by task, query and their id in the report, as their scores name them.

    Args:
        asked: the items of the report.
    """

    def __init__(self, asked: AskedItems) -> None:
        self._asked = asked
        self._last: tuple[int, Item] | None = None

    def __len__(self) -> int:
        return len(self._asked)

    def __iter__(self) -> Iterator[ItemName]:
        return map(item_name, self._asked.iter_items())

    def __getitem__(self, name: ItemName) -> Item:
        place = self._asked.place_named(name)
        if place is None:
            raise KeyError(name)
        if self._last is None or self._last[0] != place:  # neighbours are often of one item
            self._last = place, self._asked.item(place)
        return self._last[1]
