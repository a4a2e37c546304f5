"""`Selection`: which items of a dataset are sent, and in which prompt variants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, get_args

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
from keju.items import (
    OWN_READING,
    TEXT_ONLY,
    TRUE_READING,
    Item,
    PromptScript,
    Record,
    Setting,
)
from keju.metrics.boxes import box_convention
from keju.running.item_list import list_label, listed_places
from keju.running.item_places import ItemKinds, limited_places, sampled_places, shard_places
from keju.running.transcriptions import with_transcriptions
from keju.runs.manifest import checked_label
from keju.texts import _, listed

_SETTINGS: tuple[Setting, ...] = get_args(Setting)
_SCRIPTS: tuple[PromptScript, ...] = get_args(PromptScript)

_T = TypeVar("_T")

MOST_ROUNDS = 1000
"""The maximum number of rounds; a larger one is probably a typing mistake (the papers use 5)."""

NO_TRANSCRIPTION = _("it has no transcription, and no T1 item has its image's: nothing to send")
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
    chosen items. `items` are the ids of the only items that may be selected (see `listed_places`),
    None for all; `tasks`, `limit` and `sample` choose among them. `pairs` is the name of a reduced
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
            settings["items"] = list_label(self.items)
        return settings

    @property
    def variants(self) -> list[RequestVariant]:
        """All prompt variants of each item, by setting, script, wording and round."""
        return [
            RequestVariant(
                setting=setting,
                script=script,
                wording=wording,
                boxes=self.boxes,
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
    places = select_places(items, ItemKinds(items), selection, dataset)
    chosen = [items[place] for place in places]
    if TRUE_READING.intersection(selection.settings):
        return with_transcriptions(chosen, items)
    return chosen


def select_places(
    items: Sequence[Item], kinds: ItemKinds, selection: Selection, dataset: Path
) -> Sequence[int]:
    """The indices of the selected items, whose transcriptions are their own.

    Only these fields are used: id, task, query, split, group, verbatim and images; the images only
    of an item without a group.

    Args:
        items: the items; they are read only for `Selection.items` and `Selection.sample`.
        kinds: their kinds.
        selection: which items.
        dataset: the dataset, for errors.

    Raises:
        UsageError: see `select`.
    """
    _check(selection)
    chosen: Sequence[int] = kinds.places_where(lambda kind: kind.split == "test")
    if selection.items is not None:
        chosen = listed_places(items, chosen, selection.items, dataset)
    if selection.tasks is not None:
        chosen = _of_tasks(kinds, chosen, selection.tasks, dataset)
    if own_wordings(selection.wordings):
        chosen = _worded(kinds, chosen, selection)
    if selection.limit is not None:
        chosen = limited_places(kinds, chosen, selection.limit)
    if selection.sample is not None:
        chosen = sampled_places(items, chosen, selection.sample, selection.seed)
    if not chosen:
        raise UsageError("{}: no items to ask (the test split is empty)", dataset)
    return chosen


def in_shard(items: Sequence[Item], shard: str | None) -> list[Item]:
    """The chosen items of a shard; all of them where there are no shards.

    Items with the same images stay together, and the images take turns, so that each is sent and
    transcribed by one machine and the shards have nearly the same size.

    Raises:
        UsageError: `shard` has not the form of one.
    """
    return [items[place] for place in shard_places(items, shard)]


def skip_reason(item: Item, variant: RequestVariant) -> str:
    """The skip reason of an item in a prompt variant for every model; or an empty string."""
    if variant.wording == RELEASED and variant.setting == "image":
        return ""
    if parse_few_shot(variant.wording).examples and task(item.task).of_pairs:
        return _("tasks of pairs are asked without examples")
    return wording_skip_reason(item, variant.wording) or _in_setting(item, variant.setting)


def _in_setting(item: Item, setting: Setting) -> str:
    if setting == "image":
        return ""
    if task(item.task).of_pairs:
        return _("it compares two images, and a transcription describes neither")
    return _with_text(item, setting)


def _with_text(item: Item, setting: Setting) -> str:
    """The same for settings that send a text, for an item that compares no pairs."""
    if query_of(item).form == "transcription":
        if setting in TRUE_READING:
            return _("with {} the prompt would contain the answer", setting)
        return _("with {} the first reading is itself the answer: use --setting image", setting)
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
        raise UsageError("--{} is given twice: {}", option, ", ".join(given))
    for name in given:
        if name not in known:
            choices = listed(map(str, known))
            raise UsageError("no {0} {1!r}. Choose --{0} from: {2}", option, name, choices)
    return [each for name in given for each in known if each == name]


def _known_wordings(given: Sequence[str]) -> Sequence[str]:
    """The selected wordings.

    Raises:
        UsageError: there is no such wording, or one is given twice.
    """
    for name in given:
        wording(name)
    return _known(given, given, "wording")


def _worded(kinds: ItemKinds, places: Sequence[int], selection: Selection) -> Sequence[int]:
    """The items that one of the wordings has a prompt for.

    Raises:
        UsageError: none of the user's own wordings has a prompt for any item.
    """
    heads = kinds.among(places)
    for name, own in own_wordings(selection.wordings).items():
        if all(wording_skip_reason(head, name) for head in heads):
            raise UsageError(
                "--prompts: wording {} changes nothing here: it has prompts for {}, and the "
                "selected items are of {}",
                name,
                ", ".join(own.prompts),
                ", ".join(question_forms_of(heads)) or _("no task"),
            )
    return kinds.places_where(
        lambda head: any(not wording_skip_reason(head, name) for name in selection.wordings), places
    )


def _of_tasks(
    kinds: ItemKinds, places: Sequence[int], tasks: tuple[str, ...], dataset: Path
) -> Sequence[int]:
    forms, heads = QuestionForms(tasks), kinds.among(places)
    if absent := [
        form.name
        for form in forms.forms or ()
        if not any(form.takes(head.task, head.query) for head in heads)
    ]:
        raise UsageError(
            "{}: no items of task {}. Tasks here: {}",
            dataset,
            ", ".join(absent),
            ", ".join(question_forms_of(heads)),
        )
    return kinds.places_where(forms.takes, places)
