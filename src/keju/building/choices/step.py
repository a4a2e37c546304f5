"""Step ``make-choices``: turn short answers into multiple-choice questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Annotated, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from keju.building.choices.leaks import (
    LeakCheck,
    OptionUse,
    check_choices,
    count_option_use,
    describe_leaks,
)
from keju.building.choices.making import Choice, OpenQuestion, make_choices
from keju.building.dedup.canonical import canonicalize
from keju.building.dedup.groups import get_image_key
from keju.building.dropped import Dropped, write_dropped
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.definitions import prompt_of, query_of, task
from keju.errors import DataError, UsageError
from keju.items import Item
from keju.texts import n_


class MakeChoicesSettings(Settings, frozen=True):
    """The items to convert, the task that they get, and the source of their options."""

    to: Annotated[str, Meta(description="Task of the new questions; it must ask for a letter.")]
    tasks: Annotated[
        tuple[str, ...],
        Meta(
            description="Tasks whose items are converted; by default all that ask for a short "
            "answer."
        ),
    ] = ()
    query: Annotated[str, Meta(description="Query of that task, if it has several.")] = ""
    answer: Annotated[
        str, Meta(description="Metadata with the answer; by default the item's answer.")
    ] = ""
    category: Annotated[
        str, Meta(description="Metadata whose value names the pool; by default a task is one pool.")
    ] = ""
    question: Annotated[
        str, Meta(description="Question of all items; by default each item's own question.")
    ] = ""
    options: Annotated[int, Meta(description="Number of options.", ge=2, le=26)] = 4


class _Candidate(NamedTuple):
    """An item with its answer and the pool of the answer."""

    item: Item
    answer: str
    pool: str


def make_choices_of_items(context: StepContext, settings: MakeChoicesSettings) -> None:
    """Give options to the selected items; other items are kept unchanged.

    Raises:
        UsageError: the target does not ask for a letter, or there is no such task or query.
        DataError: no question could be made, or a placeholder of the target's prompt has no value.
    """
    target = _make_target(settings)
    taken: dict[str, _Candidate] = {}
    dropped: list[Dropped] = []
    for item in context.dataset:
        if _is_selected(item, settings):
            waiting = _find_candidate(item, settings)
            if isinstance(waiting, Dropped):
                dropped.append(waiting)
            else:
                taken[item.id] = waiting
    made = make_choices(
        _make_open_questions(list(taken.values())), settings.options, context.rng("options")
    )
    dropped += [
        Dropped(id_, reason, taken[id_].item.task, taken[id_].answer)
        for id_, reason in made.reasons.items()
    ]
    _check_made(made.choices, dropped)
    gone = {row.subject for row in dropped}
    choices = []
    for item in context.iter_items():
        if item.id in made.choices:
            found = taken[item.id]
            choices.append(
                _make_choice_item(target, found, made.choices[item.id], settings.question)
            )
            context.keep(choices[-1], note=f"options from the answers of pool {found.pool!r}")
        elif item.id not in gone:
            context.keep(item)
    write_dropped(context.out, dropped)
    checks = check_choices(choices)
    context.table("leaks", checks, LeakCheck)
    context.table("option-use", count_option_use(choices), OptionUse)
    context.note(
        n_(
            "{} multiple-choice questions made, {n:,} item dropped",
            "{} multiple-choice questions made, {n:,} items dropped",
            len(dropped),
            len(choices),
        )
    )
    for line in describe_leaks(checks):
        context.note(line)


STEP = Step(
    "make-choices",
    "Convert questions with short answers to multiple choice.",
    MakeChoicesSettings,
    make_choices_of_items,
)


def _make_target(settings: MakeChoicesSettings) -> Item:
    """Make an item without content, of the task and query of the new questions."""
    found = task(settings.to)
    item = Item(id="", benchmark=found.benchmark, task=found.id, query=settings.query)
    try:
        form = query_of(item).form
    except DataError as error:
        raise UsageError(error.problem) from None
    if form != "letter":
        raise UsageError(
            "task {!r} does not ask for a letter. Set to to a task that does", found.id
        )
    return item


def _is_selected(item: Item, settings: MakeChoicesSettings) -> bool:
    if settings.tasks:
        return item.task in settings.tasks
    return bool(settings.answer in item.metadata) or (
        not settings.answer and query_of(item).form == "short"
    )


def _find_candidate(item: Item, settings: MakeChoicesSettings) -> _Candidate | Dropped:
    answer = item.metadata.get(settings.answer, "") if settings.answer else item.answer
    if not answer.strip():
        lack = f"metadata {settings.answer!r}" if settings.answer else "answer"
        return Dropped(item.id, f"no {lack}", item.task)
    pool = settings.answer or item.task
    if settings.category:
        pool = item.metadata.get(settings.category, "").strip()
        if not pool:
            return Dropped(item.id, f"no metadata {settings.category!r}", item.task, answer)
    return _Candidate(item, answer.strip(), pool)


def _make_open_questions(taken: Sequence[_Candidate]) -> list[OpenQuestion]:
    """Make questions with all correct answers: their own, and those to the same question."""
    right: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    keys = []
    for item, answer, pool in taken:
        keys.append((item.task, item.query, pool, canonicalize(item).asked, get_image_key(item)))
        right[keys[-1]].add(answer)
    asked = []
    for (item, answer, pool), key in zip(taken, keys, strict=True):
        same = right[key] if key[-1] or key[-2] else set()
        also = frozenset({*same, *item.also_accepted, *_list_simplified(item, answer)} - {answer})
        asked.append(OpenQuestion(item.id, pool, answer, also))
    return asked


def _list_simplified(item: Item, answer: str) -> set[str]:
    return {item.answer_simplified} if item.answer_simplified and answer == item.answer else set()


def _make_choice_item(target: Item, taken: _Candidate, choice: Choice, question: str) -> Item:
    item = taken.item
    letter = ascii_uppercase[choice.place]
    made = replace(
        item,
        question=question or item.question,
        question_in={},
        benchmark=target.benchmark,
        task=target.task,
        query=target.query,
        verbatim=False,
        options=choice.options,
        answer=letter,
        answer_simplified=letter,
        also_accepted=(),
    )
    prompt_of(made)
    return made


def _check_made(choices: Mapping[str, Choice], dropped: Sequence[Dropped]) -> None:
    if choices:
        return
    if not dropped:
        raise DataError("no item is selected", hint="Name their tasks, or metadata that they have")
    first = dropped[0]
    raise DataError(
        "no multiple-choice question could be made from {} items: {}",
        len(dropped),
        first.reason,
        item=first.subject,
        hint="Use larger pools, or fewer options",
    )
