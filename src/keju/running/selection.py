"""`Selection`: which items of a dataset are sent, and in which prompt variants.

The columns that decide are read before the rows (`read_selected`): where ids or groups decide, a
million items take about 200 bytes of memory each while they are chosen, and 8 afterwards.
"""

from __future__ import annotations

import hashlib
import random
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
import numpy as np
from msgspec.structs import asdict, replace

from keju.datasets.store import Dataset
from keju.datasets.table import iter_rows
from keju.definitions import QuestionForms, query_of, question_forms_of, task
from keju.definitions.pair_forms import pair_form
from keju.definitions.wordings import (
    RELEASED,
    own_wordings,
    wording,
    wording_skip_reason,
)
from keju.errors import UsageError, number_of, shortened
from keju.files import sha256_bytes
from keju.items import (
    OWN_READING,
    TEXT_ONLY,
    TRUE_READING,
    Item,
    PromptScript,
    Record,
    Setting,
    get_group,
)
from keju.metrics.boxes import box_convention
from keju.models import role_of
from keju.runs.manifest import checked_label
from keju.runs.record_list import RecordList
from keju.texts import _, listed, n_

_SETTINGS: tuple[Setting, ...] = get_args(Setting)
_SCRIPTS: tuple[PromptScript, ...] = get_args(PromptScript)
_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")

MOST_ROUNDS = 1000
"""The maximum number of rounds; a larger one is probably a typing mistake (the papers use 5)."""

NO_TRANSCRIPTION = _("it has no transcription, and no T1 item has its image's: nothing to send")
"""Why an item is skipped in `gold-ocr` and `gold-text`."""

_Place = tuple[str, tuple[str, ...]]
"""A task and the hashes of an item's images."""

_KIND = ("benchmark", "task", "query", "verbatim", "split")
"""The columns on which the selection of an item depends."""

_MOST_NAMED = 5
"""The number of unknown ids that an error names."""


class RequestVariant(Record, frozen=True, kw_only=True):
    """One prompt variant of an item: setting, script, wording, box convention and round.

    `script` is that of Chinese prompts; a page's text is sent as it was transcribed. `wording` is
    the name of a prompt wording (`keju.definitions.wordings`). `boxes` is the convention of boxes
    in the answer, such as ``xyxy-1000``; empty for the benchmark's own. `label` is the run's.
    """

    setting: Setting = "image"
    script: PromptScript = "released"
    wording: str = RELEASED
    boxes: str = ""
    round: int = 1
    label: str = ""


class Selection(Record, frozen=True, kw_only=True):
    """Which items of a dataset are selected, and in which prompt variants.

    Only items of the test split are selected. With wordings of the user's own, only items that one
    of the wordings has a prompt for are chosen. `tasks` are the ids of the tasks, or single
    question forms of them such as ``recognition/Where``; None for all. `limit` is the number of
    items of each task, from its first on. `sample` is the number of items in all: tasks take turns,
    within a task its groups take turns, in an order drawn with `seed`. A smaller sample with the
    same seed is a part of a larger one. `limit` is applied before `sample`. Each item is sent in
    each of the `settings`, each of the `scripts` and each of the `wordings`, in `rounds` rounds
    each; `boxes` is as in `RequestVariant`. `shard`, such as ``2/4``, selects only that part of the
    chosen items. `items` are the ids of the only items that may be selected, None for all: an id
    such as ``x#QUERY`` belongs to a question form, and ``x`` names the items of all question forms
    of that image. `tasks`, `limit` and `sample` choose among them. `pairs` is the name of a reduced
    form of pair tasks (`PairForm`), None for the paper's. `label` names the state of the models,
    such as a checkpoint or a date (`checked_label`); None for none.
    """

    tasks: tuple[str, ...] | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    settings: tuple[str, ...] = ("image",)
    scripts: tuple[str, ...] = ("released",)
    boxes: str = ""
    rounds: int = 1
    shard: str | None = None
    items: tuple[str, ...] | None = None
    pairs: str | None = None
    wordings: tuple[str, ...] = (RELEASED,)
    label: str | None = None

    @property
    def manifest_settings(self) -> dict[str, str]:
        """The selection as a run's manifest records it: every option that has a value."""
        settings = {
            name: ",".join(value) if isinstance(value, tuple) else str(value)
            for name, value in asdict(self).items()
            if value is not None and name != "items"
        }
        if self.items is not None:
            ids = "\n".join(sorted(self.items)).encode("utf-8", "surrogatepass")
            settings["items"] = f"{number_of(len(self.items), 'id')}, sha256 {sha256_bytes(ids)}"
        return settings

    @property
    def variants(self) -> list[RequestVariant]:
        """All prompt variants of each item, by setting, script, wording and round."""
        return [
            RequestVariant(
                # The very strings of the choices: msgspec omits a default only if it is the same
                # object, and `baseline:chance` draws its answers by the encoded request.
                setting=_SETTINGS[_SETTINGS.index(setting)],
                script=_SCRIPTS[_SCRIPTS.index(script)],
                wording=RELEASED if name == RELEASED else name,
                boxes=self.boxes,
                round=number,
                label=self.label or "",
            )
            for setting in self.settings
            for script in self.scripts
            for name in self.wordings
            for number in range(1, self.rounds + 1)
        ]


def select(items: Sequence[Item], selection: Selection, dataset: Path) -> Sequence[Item]:
    """The selected items of a list, in their order.

    In a setting that sends the true transcription, an item without one of its own gets the
    reference of another task about the same images, also where that is not selected.

    Args:
        items: all items of a dataset.
        selection: which items.
        dataset: the path for errors.

    Raises:
        UsageError: a number is not valid, a task is unknown or has no items here, an id of the list
            is unknown, or there is no such setting or script.
    """
    rows = (
        {name: getattr(item, name) for name in _KIND} | {"id": item.id, "group": get_group(item)}
        for item in items
    )
    selected = [items[row] for row in _select_rows(rows, selection, dataset)]
    if TRUE_READING.intersection(selection.settings):
        return list(map(transcription_filler(selected, items), selected))
    return selected


def read_selected(
    dataset: Dataset, selection: Selection, keep: Callable[[Item], Item]
) -> tuple[Sequence[Item], tuple[Item, ...]]:
    """The selected items of a dataset as `select` returns them, and those of its reference split.

    Many selected items are on disk (`RecordList`). All rows are read, because the hash of the
    dataset covers them.

    Args:
        dataset: the dataset.
        selection: which items.
        keep: reduces each selected item to what is needed. In a setting that sends the true
            transcription, it keeps the transcription and the images.

    Raises:
        KejuError: see `select` and `Dataset.items`.
    """
    names = [*_KIND]
    # Ids and groups are read only where they are needed, because they take most of the memory.
    if selection.items is not None or selection.sample is not None:
        names.append("id")
    if selection.sample is not None:
        names += ["group", "images"]
    rows = iter(_select_rows(iter_rows(dataset.items_path, names), selection, dataset.path))
    next_row, reference, selected = next(rows, None), list[Item](), RecordList(Item)
    for row, item in enumerate(dataset):
        if item.split == "reference":
            reference.append(item)
        if row == next_row:
            selected.append(keep(item))
            next_row = next(rows, None)
    if TRUE_READING.intersection(selection.settings):
        selected = RecordList(Item, map(transcription_filler(selected, dataset), selected))
    return selected, tuple(reference)


class _Columns(NamedTuple):
    """The columns that decide which rows of a table are selected.

    `kinds` are items without content, one for each combination of benchmark, task, question form,
    verbatim and split, which are few; `numbers` has the kind of each row as a place in `kinds`.
    """

    kinds: list[Item]
    numbers: array[int]
    ids: list[str]
    groups: list[str]

    def kind(self, row: int) -> Item:
        """The kind of a row."""
        return self.kinds[self.numbers[row]]

    def kinds_of(self, rows: Iterable[int]) -> list[Item]:
        """The kinds of these rows, each once."""
        return [self.kinds[number] for number in dict.fromkeys(self.numbers[row] for row in rows)]

    def where(self, rows: Sequence[int], takes: Callable[[Item], bool]) -> Sequence[int]:
        """Those of the rows of whose kind a function returns true."""
        kind_ids = {id(kind) for kind in self.kinds_of(rows) if takes(kind)}
        return array("q", (row for row in rows if id(self.kind(row)) in kind_ids))


def _select_rows(
    table: Iterable[Mapping[str, Any]], selection: Selection, dataset: Path
) -> Sequence[int]:
    """The indices of the selected rows of a table, whose values may be None.

    It has ids and groups, or the images that make them, where the selection needs them.
    """
    _check(selection)
    places: dict[tuple[str, str, str, bool, Any], int] = {}
    numbers, ids, groups = array("L"), list[str](), list[str]()
    for values in table:
        benchmark, task_id, query, verbatim, split = (values[name] for name in _KIND)
        kind = benchmark or "", task_id or "", query or "", bool(verbatim), split or "test"
        numbers.append(places.setdefault(kind, len(places)))
        if "id" in values:
            ids.append(values["id"] or "")
        if "group" in values:
            images = values.get("images")
            groups.append(values["group"] or (images[0]["sha256"] if images else ids[-1]))
    kinds = [
        Item(id="", benchmark=benchmark, task=task_id, query=query, verbatim=verbatim, split=split)
        for benchmark, task_id, query, verbatim, split in places
    ]
    columns = _Columns(kinds, numbers, ids, groups)
    is_asked = [kind.split == "test" for kind in kinds]
    rows: Sequence[int] = array("q", (row for row, kind in enumerate(numbers) if is_asked[kind]))
    if selection.items is not None:
        rows = _listed_rows(columns, rows, selection.items, dataset)
    if selection.tasks is not None:
        forms = _forms_here(columns.kinds_of(rows), selection.tasks, dataset)
        rows = columns.where(rows, forms.takes)
    if own_wordings(selection.wordings):
        _check_worded(columns.kinds_of(rows), selection)
        rows = columns.where(
            rows,
            lambda kind: any(not wording_skip_reason(kind, name) for name in selection.wordings),
        )
    if selection.limit is not None:
        counts, all_rows, rows = Counter[str](), rows, array("q")
        for row in all_rows:
            task_id = kinds[numbers[row]].task
            counts[task_id] += 1
            if counts[task_id] <= selection.limit:
                rows.append(row)
    if not rows:
        raise UsageError("{}: no items to ask (the test split is empty)", dataset)
    if selection.sample is not None:
        return _sampled_rows(columns, rows, selection.sample, selection.seed)
    return rows


def _listed_rows(
    columns: _Columns, rows: Sequence[int], ids: Sequence[str], dataset: Path
) -> Sequence[int]:
    """The rows that a list names, by their id or the id without its question form."""
    listed_ids, seen_ids, row_numbers = set(ids), set[str](), array("q")
    for row in rows:
        name, query = columns.ids[row], columns.kind(row).query
        image = name.removesuffix(f"#{query}") if query else name
        if names := listed_ids & {name, image}:
            row_numbers.append(row)
            seen_ids |= names
    if unknown := [name for name in ids if name not in seen_ids]:
        raise UsageError(
            n_(
                "{}: {:,} of the {n:,} id of --items are not in its test split: {}. The ids are "
                "in column id of its items.parquet",
                "{}: {:,} of the {n:,} ids of --items are not in its test split: {}. The ids are "
                "in column id of its items.parquet",
                len(ids),
                dataset,
                len(unknown),
                listed(map(shortened, unknown[:_MOST_NAMED])),
            )
        )
    return row_numbers


def _forms_here(kinds: Sequence[Item], tasks: tuple[str, ...], dataset: Path) -> QuestionForms:
    """The question forms of `--task`, all of which the dataset has."""
    forms = QuestionForms(tasks)
    absent = [
        form.name
        for form in forms.forms or ()
        if not any(form.takes(kind.task, kind.query) for kind in kinds)
    ]
    if absent:
        raise UsageError(
            "{}: no items of task {}. Tasks here: {}",
            dataset,
            ", ".join(absent),
            ", ".join(question_forms_of(kinds)),
        )
    return forms


def _check_worded(kinds: Sequence[Item], selection: Selection) -> None:
    """Check that each of the user's own wordings has a prompt for one of these kinds.

    Raises:
        UsageError: one has none.
    """
    for name, own in own_wordings(selection.wordings).items():
        if all(wording_skip_reason(kind, name) for kind in kinds):
            raise UsageError(
                "--prompts: wording {} changes nothing here: it has prompts for {}, and the "
                "selected items are of {}",
                name,
                ", ".join(own.prompts),
                ", ".join(question_forms_of(kinds)) or _("no task"),
            )


def _sampled_rows(columns: _Columns, rows: Sequence[int], size: int, seed: int) -> Sequence[int]:
    """Some of the rows, drawn so that tasks take turns, and within a task its groups."""
    tasks: dict[str, dict[str, array[int]]] = {}
    for row in rows:
        groups = tasks.setdefault(columns.kind(row).task, {})
        groups.setdefault(columns.groups[row], array("q")).append(row)
    turns = [
        _in_turn([*groups.values()], f"{seed}:{name}", shuffle_members=True)
        for name, groups in tasks.items()
    ]
    return sorted(_in_turn(turns, str(seed))[:size])


def _in_turn(
    groups: list[Sequence[int]], seed: str, *, shuffle_members: bool = False
) -> Sequence[int]:
    """One row of each group, then the next of each, and so on; the groups are shuffled."""
    number = sha256_bytes(seed.encode())
    groups = random.Random(number).sample(groups, len(groups))  # noqa: S311
    if shuffle_members:
        draw = random.Random(number)  # noqa: S311
        groups = [draw.sample(group, len(group)) for group in groups]
    longest = max(map(len, groups), default=0)
    return array(
        "q", (group[turn] for turn in range(longest) for group in groups if turn < len(group))
    )


def transcription_filler(
    selected: Iterable[Item], everything: Iterable[Item]
) -> Callable[[Item], Item]:
    """The function that gives an item without a transcription that of another task.

    A definition says so with ``transcription_from``: where a release has no transcriptions for some
    of its tasks, the references of another task about the same images (by SHA-256) are sent.

    An item with several images gets the texts of all of them, one after the other. Where there are
    two different references of one image, neither is used; drafts have none.

    Args:
        selected: the selected items.
        everything: all items of the dataset, including those that are not selected; read only if a
            selected item has no transcription.
    """
    sources, images = set[str](), set[str]()
    for item in selected:
        if source := _source(item):
            sources.add(source)
            images.update(_hashes(item))
    texts: dict[_Place, set[str]] = {}
    for item in everything if sources else ():
        text = "" if item.draft or item.task not in sources else item.answer or item.transcription
        if text and text.strip() and images.issuperset(_hashes(item)):
            texts.setdefault((item.task, _hashes(item)), set()).add(text)
    unique = {place: choices.pop() for place, choices in texts.items() if len(choices) == 1}

    def fill(item: Item) -> Item:
        source, hashes = _source(item) if unique else "", _hashes(item)
        if not source:
            return item
        parts = [unique.get((source, (image,)), "") for image in hashes]
        text = unique.get((source, hashes)) or ("\n".join(parts) if all(parts) else "")
        return replace(item, transcription=text) if text else item

    return fill


def _source(item: Item) -> str:
    """The task whose references are sent for an item without a transcription; else empty."""
    has_text = bool((item.transcription or "").strip())
    return "" if has_text else task(item.task).transcription_from


def _hashes(item: Item) -> tuple[str, ...]:
    return tuple(ref.sha256 for ref in item.images)


def in_shard(items: Sequence[Item], shard: str | None) -> Sequence[Item]:
    """The chosen items of a shard; all of them where there are no shards.

    Items with the same images stay together, and the images take turns in the order of their first
    items, so that each is sent and transcribed by one machine and the shards have nearly the same
    size. Many items are on disk (`RecordList`).

    Raises:
        UsageError: `shard` has not the form of one.
    """
    if not shard:
        return items
    spelled = _SHARD.fullmatch(shard)
    number, count = (int(spelled[1]), int(spelled[2])) if spelled else (0, 0)
    if not 1 <= number <= count:
        raise UsageError("--shard must be I/N, from 1/N to N/N, not {}", shard)
    images = np.fromiter(map(_hash_of_images, items), np.uint64, len(items))
    _values, first, places = np.unique(images, return_index=True, return_inverse=True)
    # The turn of each image: its rank in the order of first items.
    own = first.argsort().argsort()[places] % count == number - 1
    return RecordList(Item, (item for item, is_own in zip(items, own, strict=True) if is_own))


def _hash_of_images(item: Item) -> int:
    """A number that items with the same images share, and practically no others.

    Where two do by chance, they are in the same shard.
    """
    images = msgspec.msgpack.encode(item.images) if item.images else item.id.encode()
    return int.from_bytes(hashlib.sha256(images).digest()[:8], "little")


def skip_reason(item: Item, variant: RequestVariant, model: str = "") -> str:
    """The skip reason of an item in a prompt variant, or an empty string.

    With the name of a model, also why that model is not sent the variant: an OCR engine takes no
    prompt, so that it supports the published wording only.
    """
    if variant.wording != RELEASED:
        if wording_skip_reason(item, variant.wording):
            return wording_skip_reason(item, variant.wording)
        if takes_no_prompt(model):
            return _("an OCR engine takes no prompt: add --wording released to ask it too")
    return "" if variant.setting == "image" else _setting_skip_reason(item, variant.setting)


def takes_no_prompt(model: str) -> bool:
    """Whether a model is an OCR engine or its stored results, also with shuffled images."""
    return role_of(model.removeprefix("shuffled:")) == "engine"


def _setting_skip_reason(item: Item, setting: Setting) -> str:
    """The skip reason of an item in a setting that sends a text."""
    if task(item.task).of_pairs:
        return _("it compares two images, and a transcription describes neither")
    if query_of(item).form == "transcription":
        return (
            _("with {} the prompt would contain the answer", setting)
            if setting in TRUE_READING
            else _("with {} the first reading is itself the answer: use --setting image", setting)
        )
    if setting in OWN_READING and not item.images:
        return _("there is no image to read first")
    if setting in TRUE_READING and not (item.transcription or "").strip():
        return NO_TRANSCRIPTION
    if setting not in TEXT_ONLY and not item.images:
        return _("there is no image to send: use --setting gold-text")
    return ""


def _check(selection: Selection) -> None:
    for name in ("limit", "sample", "rounds"):
        number = getattr(selection, name)
        if number is not None and number < 1:
            raise UsageError("--{} must be 1 or more, not {}", name, number)
    if selection.rounds > MOST_ROUNDS:
        raise UsageError("--rounds must be {:,} at most, not {}", MOST_ROUNDS, selection.rounds)
    for name in selection.wordings:
        if name != RELEASED:
            wording(name)
    several: dict[str, tuple[Sequence[str], Sequence[str]]] = {
        "setting": (selection.settings, _SETTINGS),
        "script": (selection.scripts, _SCRIPTS),
        "wording": (selection.wordings, selection.wordings),
    }
    for option, (values, choices) in several.items():
        if len(set(values)) < len(values):
            raise UsageError("--{} is given twice: {}", option, ", ".join(values))
        if unknown := [value for value in values if value not in choices]:
            names = listed(choices)
            raise UsageError("no {0} {1!r}. Choose --{0} from: {2}", option, unknown[0], names)
    if selection.pairs is not None:
        pair_form(selection.pairs)
    if selection.label is not None:
        checked_label(selection.label)
    if selection.boxes:
        box_convention(selection.boxes)
