"""Contamination: answers that seem to come from memory and not from the page, for manual review.

Our reading; three signs, all on text as OCR scoring counts it (no punctuation, variants and
simplified forms folded together):

elsewhere
    A transcription contains eight or more consecutive characters that are not on its page, but
    are in the text of another image of the run, four of them more than the longest part that the
    page has of them: another edition's wording where the page differs (the run covers the
    difference from both sides), or a passage that continues after the end of the page.
withheld
    A model that got a transcription and no image (own-text, a pipeline) writes eight or more
    consecutive characters of the page's true text of which at least four were not in the
    transcription.
blind
    A model that got no image writes eight or more consecutive characters of the true text, and
    four more than of any other item's true text in its task.

The text of the question, and other known texts of the item, are never a sign. None of this is a
proof: a language model can predict much without having memorized the page. So the same test is made
as a control where memory is impossible: on the transcriptions of OCR engines, which know no texts
and are not listed, for `elsewhere`; with another group's text in place of the true one for
`withheld` and `blind`. The control shows how much is found by chance.

Pages whose texts seem to be swapped (`keju.analysis.swapped`) are not tested for `elsewhere`: the
right text of their image is on another page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from keju.analysis.asked_items import Answer, item_name
from keju.analysis.gram_index import GramIndex
from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet, reader_of_responses
from keju.definitions import options_of, prompt_of, query_of
from keju.errors import KejuError
from keju.items import Item, get_group
from keju.messages import message
from keju.metrics.common_substrings import find_common_substrings, find_longest_common, occurs_in
from keju.running.reading import name_of_images
from keju.runs import RunFolder
from keju.scoring import ItemName, body_of
from keju.text import answer_part, counted

Sign = Literal["elsewhere", "withheld", "blind"]

RUN = 8
"""Minimum length in characters; shorter runs are formulas, names and chance."""

BEYOND = 4
"""Characters by which a run exceeds the given text, or what it shares with other texts."""

_BLIND = "blind:"
_LONGEST = 6000
_MOST_TEXTS = 5
_EXAMPLES = 30


class Suspect(NamedTuple):
    """One answer: the run that it should not know, and its origin."""

    sign: Sign
    model: str
    task: str
    item: str
    place: int
    run: str
    where: str


class SignRow(NamedTuple):
    """How often a sign is found in a model's answers, and how often in the control.

    `by_chance` of `elsewhere` is the share found in the transcriptions of the run's OCR engines of
    the task, as a number of as many answers; None where there are none.
    """

    sign: Sign
    model: str
    task: str
    role: str
    answers: int
    found: int
    by_chance: int | None


class Contamination(NamedTuple):
    """All signs, and the suspects with the longest runs."""

    rows: list[SignRow]
    suspects: list[Suspect]


_Row = tuple[Sign, str, str]
"""Sign, model and task."""


class _Known(NamedTuple):
    """An item with its true text, and all text in it or in its prompt.

    `pictures` names its images; `group` is the item's id where it has no group.
    """

    place: int
    id: str
    task: str
    group: str
    pictures: str
    truth: str
    own: tuple[str, ...]


class _Hit(NamedTuple):
    model: str
    known: _Known
    sign: Sign
    run: str
    where: str
    control: str


def contamination(run_set: RunSet, swapped: Collection[ItemName] = ()) -> Contamination:
    """Search for signs in every answer to an open query or a transcription.

    `swapped` are the items whose texts seem to be swapped.
    """
    readings = {
        place: text
        for place, text in readings_of(run_set).items()
        if run_set.by_model[place[0]].text_only
    }
    blind = any(
        model_responses.model.startswith(_BLIND) for model_responses in run_set.by_model.values()
    )
    controlled = blind or bool(readings)
    transcribed = any(query_of(asked.item).form == "transcription" for asked in run_set.asked)
    known = _collect_known(run_set) if controlled or transcribed else []
    index = _index(known)
    hits: list[_Hit] = []
    counts: dict[_Row, int] = {}
    for each, asked in zip(known, run_set.asked if known else (), strict=True):
        others = _others(known, each.place) if controlled else []
        for answer in asked.answers:
            said = counted(body_of(answer.response.text)[:_LONGEST])
            if answer.response.status not in ("answered", "truncated") or len(said) < RUN:
                continue
            for sign, run, where, control in _signs(
                run_set, asked.item, each, answer, said, index, others, readings
            ):
                if sign == "elsewhere" and item_name(asked.item) in swapped:
                    continue
                key = (sign, answer.model, each.task)
                counts[key] = counts.get(key, 0) + 1
                if run or control:
                    hits.append(_Hit(answer.model, each, sign, run, where, control))
    shown = [hit for hit in hits if not _is_control(run_set, hit.sign, hit.model)]
    return Contamination(_rows(run_set, counts, hits), _suspects(shown))


def _is_control(run_set: RunSet, sign: Sign, model: str) -> bool:
    """Whether answers belong to the control: an OCR engine knows no texts."""
    return sign == "elsewhere" and run_set.by_model[model].role == "engine"


def _signs(
    run_set: RunSet,
    item: Item,
    each: _Known,
    answer: Answer,
    said: str,
    index: _Index,
    others: Sequence[str],
    readings: Mapping[tuple[str, str, int], str],
) -> Iterator[tuple[Sign, str, str, str]]:
    """Each sign that applies to an answer, the run found, its origin, and the control's run.

    The runs are empty where nothing was found.
    """
    model_responses = run_set.by_model[answer.model]
    if model_responses.model.startswith(_BLIND):
        if each.truth and others:
            yield (
                "blind",
                _blind(said, each.truth, each.own, others),
                message("analysis.its-own-true-text"),
                (_blind(said, others[0], each.own, [each.truth, *others[1:]])),
            )
        return
    reading = readings.get((answer.model, name_of_images(item.images), answer.response.round))
    if reading is not None:
        if each.truth and others:
            asked = _prompt_texts(item)
            run = _withheld(said, each.truth, reading, asked)
            yield (
                "withheld",
                run,
                message("analysis.true-text-not-reading"),
                (_withheld(said, others[0], reading, (*asked, each.truth))),
            )
        return
    if query_of(item).form == "transcription" and model_responses.role != "baseline":
        run, where = _elsewhere(said, each, index)
        yield "elsewhere", run, where, ""


def _elsewhere(said: str, each: _Known, index: _Index) -> tuple[str, str]:
    """The longest run that another image's text has and this page lacks, and its origin."""
    strange: set[str] = set()
    counts: Counter[int] = Counter()
    for gram, others in index.grams.find(said, each.place):
        if gram not in strange and not occurs_in(gram, each.own):
            strange.add(gram)
            counts.update(others)
    best, where = "", ""
    for place, _ in counts.most_common(_MOST_TEXTS):
        known = index.known[place]
        for run in find_common_substrings(said, known.truth, least=RUN):
            longer = len(run.text) > len(best) and _holds(run.text, strange)
            if longer and _beyond(run.text, each.own) >= BEYOND:
                best, where = run.text, known.id
    return best, where


def _beyond(run: str, own: Sequence[str]) -> int:
    """The number of characters of a run beyond its longest part that is known here.

    One wrong character at the end of a text on the page matches some other text by chance.
    """
    return len(run) - max((len(find_longest_common(run, text)) for text in own), default=0)


def _holds(run: str, grams: Collection[str]) -> bool:
    return any(run[at : at + RUN] in grams for at in range(len(run) - RUN + 1))


def _withheld(said: str, truth: str, reading: str, own: Sequence[str]) -> str:
    best = ""
    for run in find_common_substrings(said, truth, least=RUN):
        new = len(run.text) - len(find_longest_common(run.text, reading)) >= BEYOND
        if new and not occurs_in(run.text, own) and len(run.text) > len(best):
            best = run.text
    return best


def _blind(said: str, truth: str, own: Sequence[str], others: Sequence[str]) -> str:
    """The longest run of the true text, if it is sufficiently longer than of any other text."""
    asked = [text for text in own if text and text != truth]
    runs = [r.text for r in find_common_substrings(said, truth, least=RUN)]
    best = max((run for run in runs if not occurs_in(run, asked)), key=len, default="")
    if not best:
        return ""
    floor = max((len(find_longest_common(said, text)) for text in others), default=0)
    return best if len(best) >= floor + BEYOND else ""


def _collect_known(run_set: RunSet) -> list[_Known]:
    """Collect every item with its texts and those of other items about the same images."""
    by_picture: dict[str, list[str]] = {}
    for asked in run_set.asked:
        for image in asked.item.images:
            by_picture.setdefault(image.sha256, []).extend(_item_texts(asked.item))
    found = []
    shared: dict[str, str] = {}
    for place, asked in enumerate(run_set.asked):
        item = asked.item
        beside = [text for image in item.images for text in by_picture[image.sha256]]
        given = [shared.setdefault(text, text) for text in _prompt_texts(item)]
        own = tuple(dict.fromkeys([*beside, *_item_texts(item), *given]))
        truth = counted(item.transcription or item.answer or item.answer_simplified)
        found.append(
            _Known(
                place,
                item.id,
                task_name(item.task, item.query),
                get_group(item),
                ",".join(image.sha256 for image in item.images),
                truth if len(truth) >= RUN else "",
                own,
            )
        )
    return found


def _item_texts(item: Item) -> list[str]:
    """The known texts on an item's page, and its answer."""
    lines = "".join(line.text for line in item.lines)
    texts = (item.transcription or "", item.answer, item.answer_simplified, lines)
    return [said for text in (*texts, *item.also_accepted) if (said := counted(text))]


def _prompt_texts(item: Item) -> tuple[str, ...]:
    """The texts that the item itself shows to a model."""
    try:
        prompt = prompt_of(item)
    except KejuError:
        prompt = item.question
    texts = (prompt, *options_of(item), *item.fields.values(), *item.metadata.values())
    return tuple(said for text in texts if (said := counted(text)))


class _Index(NamedTuple):
    """The runs of eight characters of all true texts, by the item's index in `known`."""

    known: Sequence[_Known]
    grams: GramIndex


def _index(known: Sequence[_Known]) -> _Index:
    """The items with a true text and images; items with the same of both are there once."""
    grams = GramIndex(RUN, most=_MOST_TEXTS, text=lambda place: known[place].truth)
    seen: set[tuple[str, str]] = set()
    for each in known:
        if each.truth and each.pictures and (each.pictures, each.truth) not in seen:
            seen.add((each.pictures, each.truth))
            grams.add(each.place)
    return _Index(known, grams)


def _others(known: Sequence[_Known], place: int) -> list[str]:
    """The true texts of the task's next few items of other groups, as a control."""
    own = known[place]
    found: list[str] = []
    for step in range(1, len(known)):
        other = known[(place + step) % len(known)]
        if other.task == own.task and other.group != own.group and other.truth:
            found.append(other.truth)
        if len(found) == 2 * _MOST_TEXTS or step > 50 * _MOST_TEXTS:
            break
    return found


def readings_of(run_set: RunSet) -> dict[tuple[str, str, int], str]:
    """The transcription that each voice was sent, by its name, the images and the round."""
    found: dict[tuple[str, str, int], str] = {}
    paths = {run.name: run.path for run in run_set.runs}
    for name, model_responses in run_set.by_model.items():
        reader = reader_of_responses(model_responses)
        if not reader:
            continue
        by_pictures: dict[str, dict[int, str]] = {}
        for reading in RunFolder.open(paths[model_responses.run]).readings(reader):
            if reading.script not in ("released", model_responses.variant.script):
                continue
            by_pictures.setdefault(reading.item, {})[reading.round] = counted(
                answer_part(reading.text)
            )
        for pictures, by_round in by_pictures.items():
            for round_ in range(1, model_responses.rounds + 1):
                found[name, pictures, round_] = by_round.get(round_, by_round.get(1, ""))
    return found


def _rows(run_set: RunSet, counts: Mapping[_Row, int], hits: Sequence[_Hit]) -> list[SignRow]:
    found = Counter((hit.sign, hit.model, hit.known.task) for hit in hits if hit.run)
    by_chance = Counter((hit.sign, hit.model, hit.known.task) for hit in hits if hit.control)
    engines, read = Counter[str](), Counter[str]()
    for row, answers in counts.items():
        if _is_control(run_set, row[0], row[1]):
            engines[row[2]] += found[row]
            read[row[2]] += answers
    rows = []
    for row, answers in counts.items():
        sign, model, task = row
        if _is_control(run_set, sign, model):
            continue
        chance: int | None = by_chance[row]
        if sign == "elsewhere":
            chance = round(answers * engines[task] / read[task]) if read[task] else None
        rows.append(SignRow(sign, model, task, run_set.by_model[model].role, answers, found[row],
                            chance))  # fmt: skip
    return sorted(rows, key=lambda row: (row.sign, row.task))


def _suspects(hits: Sequence[_Hit]) -> list[Suspect]:
    found = [
        Suspect(
            sign=hit.sign,
            model=hit.model,
            task=hit.known.task,
            item=hit.known.id,
            place=hit.known.place,
            run=hit.run,
            where=hit.where,
        )
        for hit in hits
        if hit.run
    ]
    return sorted(found, key=lambda each: (-len(each.run), each.place, each.model))[:_EXAMPLES]
