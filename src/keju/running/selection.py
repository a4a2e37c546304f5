"""`Selection`: which items of a dataset are sent, and in which prompt variants.

Items are chosen one after the other (`select`), so that only those that are selected are kept.
"""

from __future__ import annotations

import random
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import get_args

from msgspec.structs import asdict, replace

from keju.definitions import (
    check_question_form,
    query_of,
    question_forms_of,
    takes_question,
    task,
)
from keju.definitions.pair_forms import pair_form
from keju.definitions.wordings import RELEASED, own_wordings, wording, wording_skip_reason
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
from keju.texts import _, listed

_SETTINGS: tuple[Setting, ...] = get_args(Setting)
_SCRIPTS: tuple[PromptScript, ...] = get_args(PromptScript)
_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")

MOST_ROUNDS = 1000
"""The maximum number of rounds; a larger one is probably a typing mistake (the papers use 5)."""

NO_TRANSCRIPTION = _("it has no transcription, and no T1 item has its image's: nothing to send")
"""Why an item is skipped in `gold-ocr` and `gold-text`."""

_Place = tuple[str, tuple[str, ...]]
"""A task and the hashes of an item's images."""

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


def select(
    items: Iterable[Item],
    selection: Selection,
    dataset: Path,
    keep: Callable[[Item], Item] | None = None,
    reference: list[Item] | None = None,
) -> Sequence[Item]:
    """The selected items, in their order; many of them are on disk (`RecordList`).

    In a setting that sends the true transcription, an item without one of its own gets the
    reference of another task about the same images, also where that is not selected: there, `items`
    is read twice, and `keep`, which reduces each selected item, keeps transcription and images.
    `reference` gets the items of the reference split. `dataset` is the path for errors.

    Raises:
        UsageError: a number is not valid, a task is unknown or has no items here, an id of the list
            is unknown, or there is no such setting or script.
    """
    _check_options(selection)
    for form in selection.tasks or ():
        check_question_form(form)
    has_own = bool(own_wordings(selection.wordings))
    # One item of each benchmark, task, question form and `verbatim`, and whether such are sent.
    examples: list[Item] = []
    is_sent: dict[tuple[str, str, str, bool], bool] = {}
    counts = Counter[str]()

    def is_selected(item: Item) -> bool:
        if item.split == "reference" and reference is not None:
            reference.append(item)
        if item.split != "test":
            return False
        kind = item.benchmark, item.task, item.query, item.verbatim
        if kind not in is_sent:
            examples.append(item)
            is_unworded = has_own and all(
                wording_skip_reason(item, name) for name in selection.wordings
            )
            is_sent[kind] = not is_unworded and takes_question(
                selection.tasks, item.task, item.query
            )
        counts[item.task] += is_sent[kind]
        return is_sent[kind] and (selection.limit is None or counts[item.task] <= selection.limit)

    listed_items = items
    if selection.items is not None:
        listed_items = _listed_items(items, selection.items, dataset)
    selected_items = filter(is_selected, listed_items)
    selected = RecordList(Item, map(keep, selected_items) if keep else selected_items)
    for form in selection.tasks or ():
        if not any(takes_question([form], item.task, item.query) for item in examples):
            raise UsageError(
                "{}: no items of task {}. Tasks here: {}",
                dataset,
                form,
                ", ".join(question_forms_of(examples)),
            )
    if not selected:
        raise UsageError(
            "{}: no items to ask. Its test split has items of: {}. Choose prompts for those",
            dataset,
            ", ".join(question_forms_of(examples)) or _("no task"),
        )
    if selection.sample is not None:
        places = _draw_sample(selected, selection.sample, selection.seed)
        selected = RecordList(Item, map(selected.__getitem__, places))
    if TRUE_READING.intersection(selection.settings):
        selected = RecordList(Item, map(transcription_filler(selected, items), selected))
    return selected


def _listed_items(items: Iterable[Item], ids: Sequence[str], dataset: Path) -> Iterator[Item]:
    """The items of the test split that a list names, and all others.

    After the last item, an error names the ids without an item.
    """
    listed_ids, unseen_ids = frozenset(ids), dict.fromkeys(ids)
    for item in items:
        # An id without its question form names the items of all forms.
        form = f"#{item.query}" if item.query else ""
        names = listed_ids.intersection((item.id, item.id.removesuffix(form)))
        if item.split != "test":
            yield item
        elif names:
            for name in names:
                unseen_ids.pop(name, None)
            yield item
    if unseen_ids:
        raise UsageError(
            "{}: {:,} of the ids of --items are not in its test split: {}. The ids are in column "
            "id of its items.parquet",
            dataset,
            len(unseen_ids),
            listed(map(shortened, islice(unseen_ids, _MOST_NAMED))),
        )


def _check_options(selection: Selection) -> None:
    """Check every option by itself, before the dataset is read."""
    for name in ("limit", "sample", "rounds"):
        number = getattr(selection, name)
        if number is not None and number < 1:
            raise UsageError("--{} must be 1 or more, not {}", name, number)
    if selection.rounds > MOST_ROUNDS:
        raise UsageError("--rounds must be {:,} at most, not {}", MOST_ROUNDS, selection.rounds)
    for name in selection.wordings:
        if name != RELEASED:
            wording(name)
    for option, values, choices in (
        ("setting", selection.settings, _SETTINGS),
        ("script", selection.scripts, _SCRIPTS),
        ("wording", selection.wordings, selection.wordings),
    ):
        if len(set(values)) < len(values):
            raise UsageError("--{} is given twice: {}", option, ", ".join(values))
        if unknown := set(values).difference(choices):
            names = listed(choices)
            raise UsageError("no {0} {1!r}. Choose --{0} from: {2}", option, min(unknown), names)
    forms: tuple[tuple[str | None, Callable[[str], object]], ...] = (
        (selection.pairs, pair_form),
        (selection.label, checked_label),
        (selection.boxes or None, box_convention),
        (selection.shard or None, _shard_of),
    )
    for text, check in forms:
        if text is not None:
            check(text)


def _draw_sample(items: Iterable[Item], size: int, seed: int) -> Sequence[int]:
    """Places of items, so that tasks take turns, and within a task its groups."""
    places: dict[str, dict[str, array[int]]] = {}
    for place, item in enumerate(items):
        groups = places.setdefault(item.task, {})
        groups.setdefault(get_group(item), array("q")).append(place)
    turns = [
        _in_turn([*groups.values()], f"{seed}:{name}", shuffle_members=True)
        for name, groups in places.items()
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

    Items with the same first image stay together, and the images take turns in the order of their
    first items, so that each is sent and transcribed by one machine and the shards have nearly the
    same size.

    Raises:
        UsageError: `shard` has not the form of one.
    """
    if not shard:
        return items
    number, count = _shard_of(shard)
    turns: dict[int, int] = {}

    def is_own(item: Item) -> bool:
        name = item.images[0].sha256 if item.images else item.id
        # Numbers take less memory. Two that are equal by chance are in the same shard.
        short_name = int(sha256_bytes(name.encode())[:16], 16)
        return turns.setdefault(short_name, len(turns)) % count == number - 1

    return RecordList(Item, filter(is_own, items))


def _shard_of(text: str) -> tuple[int, int]:
    spelled = _SHARD.fullmatch(text)
    number, count = (int(spelled[1]), int(spelled[2])) if spelled else (0, 0)
    if not 1 <= number <= count:
        raise UsageError("--shard must be I/N, from 1/N to N/N, not {}", text)
    return number, count


def skip_reason(item: Item, variant: RequestVariant, model: str = "") -> str:
    """The skip reason of an item in a prompt variant, or an empty string.

    With the name of a model, also why that model is not sent the variant: an OCR engine takes no
    prompt, so that it supports the published wording only.
    """
    setting, reason = variant.setting, ""
    if variant.wording != RELEASED:
        reason = wording_skip_reason(item, variant.wording)
        # Also stored results of an engine, and with shuffled images.
        if not reason and role_of(model.removeprefix("shuffled:")) == "engine":
            reason = _("an OCR engine takes no prompt: add --wording released to ask it too")
    if reason or setting == "image":
        return reason
    is_page = query_of(item).form == "transcription"
    is_true, has_text = setting in TRUE_READING, bool((item.transcription or "").strip())
    of_pairs, sends_image = task(item.task).of_pairs, setting not in TEXT_ONLY
    reasons = (
        (of_pairs, _("it compares two images, and a transcription describes neither")),
        (is_page and is_true, _("with {} the prompt would contain the answer", setting)),
        (
            is_page,
            _("with {} the first reading is itself the answer: use --setting image", setting),
        ),
        (setting in OWN_READING and not item.images, _("there is no image to read first")),
        (is_true and not has_text, NO_TRANSCRIPTION),
        (sends_image and not item.images, _("there is no image to send: use --setting gold-text")),
    )
    return next((reason for applies, reason in reasons if applies), "")
