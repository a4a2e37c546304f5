"""`Selection`: which items of a dataset are sent, and in which prompt variants."""

from __future__ import annotations

import hashlib
import random
import re
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar, get_args

import msgspec
from msgspec import field
from msgspec.structs import asdict

from keju.definitions import QuestionForms, query_of, question_forms_of, task
from keju.definitions.pair_forms import pair_form
from keju.definitions.wordings import (
    RELEASED,
    own_wordings,
    parse_few_shot,
    wording,
    wording_skip_reason,
)
from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import (
    OWN_READING,
    TEXT_ONLY,
    TRUE_READING,
    Item,
    PromptScript,
    Record,
    Setting,
)
from keju.messages import listed, message
from keju.metrics.boxes import box_convention
from keju.running.box_conventions import OF_MODEL
from keju.running.item_list import list_label, listed_items
from keju.running.transcriptions import with_transcriptions
from keju.runs.labels import checked_label

_SETTINGS: tuple[Setting, ...] = get_args(Setting)
_SCRIPTS: tuple[PromptScript, ...] = get_args(PromptScript)

_T = TypeVar("_T")
_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")

MOST_ROUNDS = 1000
"""The maximum number of rounds; a larger one is probably a typing mistake (the papers use 5)."""

NO_TRANSCRIPTION = "it has no transcription, and no T1 item has its image's: nothing to send"
"""Why an item is skipped in `gold-ocr` and `gold-text`."""


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
    chosen items. `boxes_of` maps the names of models to conventions that replace `boxes` for them.
    `items` are the ids of the only items that may be selected (see `listed_items`), None for all;
    `tasks`, `limit` and `sample` choose among them. `pairs` is the name of a reduced form of pair
    tasks (`PairForm`), None for the paper's. `label` names the state of the models, such as a
    checkpoint or a date (`checked_label`); None for none.
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
    boxes_of: dict[str, str] = field(default_factory=dict)
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
            if value is not None and name not in {"boxes_of", "items"}
        }
        if self.items is not None:
            settings["items"] = list_label(self.items)
        return settings | {f"{OF_MODEL}{model}": name for model, name in self.boxes_of.items()}

    @property
    def variants(self) -> list[RequestVariant]:
        """All prompt variants of each item, by setting, script, wording and round."""
        return self.variants_for("")

    def variants_for(self, model: str) -> list[RequestVariant]:
        """All prompt variants of each item for one model, in its own box convention."""
        boxes = self.boxes_of.get(model, self.boxes)
        return [
            RequestVariant(
                setting=setting,
                script=script,
                wording=wording,
                boxes=boxes,
                round=number,
                label=self.label or "",
            )
            for setting in _known(self.settings, _SETTINGS, "setting")
            for script in _known(self.scripts, _SCRIPTS, "script")
            for wording in _known_wordings(self.wordings)
            for number in range(1, self.rounds + 1)
        ]


def select(items: Sequence[Item], selection: Selection, dataset: Path) -> list[Item]:
    """The selected items of a dataset, in their order.

    In a setting that sends the true transcription, an item without one of its own gets the
    reference of another task about the same images, also where that is not selected
    (`with_transcriptions`).

    Raises:
        UsageError: a number is not valid, a task is unknown or has no items here, an id of the list
            is unknown, or there is no such setting or script.
    """
    chosen = select_own(items, selection, dataset)
    if TRUE_READING.intersection(selection.settings):
        return with_transcriptions(chosen, items)
    return chosen


def select_own(items: Iterable[Item], selection: Selection, dataset: Path) -> list[Item]:
    """The selected items, without transcriptions of other items.

    Only these fields are used: id, task, query, split, group, verbatim and images; the images only
    of an item without a group.

    Raises:
        UsageError: see `select`.
    """
    _check(selection)
    chosen = [item for item in items if item.split == "test"]
    if selection.items is not None:
        chosen = listed_items(chosen, selection.items, dataset)
    if selection.tasks is not None:
        chosen = _of_tasks(chosen, selection.tasks, dataset)
    if own_wordings(selection.wordings):
        chosen = _worded(chosen, selection)
    if selection.limit is not None:
        chosen = _limited(chosen, selection.limit)
    if selection.sample is not None:
        chosen = _sampled(chosen, selection.sample, selection.seed)
    if not chosen:
        raise UsageError(message("running.no-items-to-ask", dataset=dataset))
    return chosen


def in_shard(items: Sequence[Item], shard: str | None) -> list[Item]:
    """The chosen items of a shard; all of them where there are no shards.

    Items with the same images stay together, and the images take turns, so that each is sent and
    transcribed by one machine and the shards have nearly the same size.

    Raises:
        UsageError: `shard` has not the form of one.
    """
    return [items[place] for place in shard_places(items, shard)]


def shard_places(items: Sequence[Item], shard: str | None) -> Sequence[int]:
    """The indices of the items that `in_shard` returns.

    Raises:
        UsageError: `shard` has not the form of one.
    """
    if not shard:
        return range(len(items))
    spelled = _SHARD.fullmatch(shard)
    number, count = (int(spelled[1]), int(spelled[2])) if spelled else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(message("running.shard-invalid", shard=shard))
    turns: dict[object, int] = {}
    found = array("q")
    for place, item in enumerate(items):
        images = hashlib.sha256(msgspec.msgpack.encode(item.images)).digest() if item.images else ""
        turn = turns.setdefault(images or item.id, len(turns))
        if turn % count == number - 1:
            found.append(place)
    return found


def skip_reason(item: Item, variant: RequestVariant) -> str:
    """The skip reason of an item in a prompt variant for every model; or an empty string."""
    if parse_few_shot(variant.wording).examples and task(item.task).of_pairs:
        return "tasks of pairs are asked without examples"
    return wording_skip_reason(item, variant.wording) or _in_setting(item, variant.setting)


def _in_setting(item: Item, setting: Setting) -> str:
    if setting == "image":
        return ""
    if task(item.task).of_pairs:
        return "it compares two images, and a transcription describes neither"
    return _with_text(item, setting)


def _with_text(item: Item, setting: Setting) -> str:
    """The same for settings that send a text, for an item that compares no pairs."""
    if query_of(item).form == "transcription":
        if setting in TRUE_READING:
            return f"with {setting} the prompt would contain the answer"
        return f"with {setting} the first reading is itself the answer: use --setting image"
    if setting in OWN_READING and not item.images:
        return "there is no image to read first"
    if setting in TRUE_READING and not (item.transcription or "").strip():
        return NO_TRANSCRIPTION
    if setting not in TEXT_ONLY and not item.images:
        return "there is no image to send: use --setting gold-text"
    return ""


def _check(selection: Selection) -> None:
    for name in ("limit", "sample", "rounds"):
        number = getattr(selection, name)
        if number is not None and number < 1:
            raise UsageError(message("running.option-too-small", name=name, number=number))
    if selection.rounds > MOST_ROUNDS:
        raise UsageError(
            message("running.too-many-rounds", most=MOST_ROUNDS, rounds=selection.rounds)
        )
    _known(selection.settings, _SETTINGS, "setting")
    _known(selection.scripts, _SCRIPTS, "script")
    _known_wordings(selection.wordings)
    if selection.pairs is not None:
        pair_form(selection.pairs)
    if selection.label is not None:
        checked_label(selection.label)
    if selection.boxes:
        box_convention(selection.boxes)
    QuestionForms(selection.tasks)


def _known(given: Sequence[str], known: Sequence[_T], option: str) -> list[_T]:
    """The values of an option that can be given several times.

    Raises:
        UsageError: there is no such value, or one is given twice.
    """
    if len(set(given)) < len(given):
        raise UsageError(
            message("running.option-given-twice", option=option, given=", ".join(given))
        )
    for name in given:
        if name not in known:
            choices = listed(map(str, known))
            raise UsageError(
                message("running.no-such-choice", option=option, name=name, choices=choices)
            )
    return [each for name in given for each in known if each == name]


def _known_wordings(given: Sequence[str]) -> Sequence[str]:
    """The selected wordings.

    Raises:
        UsageError: there is no such wording, or one is given twice.
    """
    for name in given:
        wording(name)
    return _known(given, given, "wording")


def _worded(items: list[Item], selection: Selection) -> list[Item]:
    """The items that one of the wordings has a prompt for.

    Raises:
        UsageError: none of the user's own wordings has a prompt for any item.
    """
    for name, own in own_wordings(selection.wordings).items():
        if all(wording_skip_reason(item, name) for item in items):
            raise UsageError(
                message(
                    "running.wording-changes-nothing",
                    name=name,
                    prompts=", ".join(own.prompts),
                    forms=", ".join(question_forms_of(items)) or message("running.no-task"),
                )
            )
    return [
        item
        for item in items
        if any(not wording_skip_reason(item, name) for name in selection.wordings)
    ]


def _of_tasks(items: list[Item], tasks: tuple[str, ...], dataset: Path) -> list[Item]:
    forms = QuestionForms(tasks)
    if absent := [
        form.name
        for form in forms.forms or ()
        if not any(form.takes(item.task, item.query) for item in items)
    ]:
        raise UsageError(
            message(
                "running.no-items-of-task",
                dataset=dataset,
                absent=", ".join(absent),
                forms=", ".join(question_forms_of(items)),
            )
        )
    return [item for item in items if forms.takes(item)]


def _limited(items: list[Item], limit: int) -> list[Item]:
    seen: dict[str, int] = {}
    kept = []
    for item in items:
        seen[item.task] = seen.get(item.task, 0) + 1
        if seen[item.task] <= limit:
            kept.append(item)
    return kept


def _sampled(items: list[Item], size: int, seed: int) -> list[Item]:
    tasks: dict[str, dict[str, list[int]]] = {}
    for place, item in enumerate(items):
        group = item.group or (item.images[0].sha256 if item.images else item.id)
        tasks.setdefault(item.task, {}).setdefault(group, []).append(place)
    turns = [
        _in_turn(_shuffled(list(groups.values()), f"{seed}:{name}"), f"{seed}:{name}")
        for name, groups in tasks.items()
    ]
    drawn = _in_turn(_shuffled(turns, str(seed)), None)[:size]
    return [items[place] for place in sorted(drawn)]


def _shuffled(things: list[list[int]], seed: str) -> list[list[int]]:
    draw = random.Random(sha256_bytes(seed.encode()))  # noqa: S311
    return draw.sample(things, len(things))


def _in_turn(groups: list[list[int]], seed: str | None) -> list[int]:
    """One index of each group, then the next of each, and so on."""
    if seed is not None:
        draw = random.Random(sha256_bytes(seed.encode()))  # noqa: S311
        groups = [draw.sample(group, len(group)) for group in groups]
    longest = max(map(len, groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]
