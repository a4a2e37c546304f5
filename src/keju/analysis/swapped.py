"""Swapped pages: transcriptions that match the reference of another page.

A transcription is compared with a reference by the trigrams that both contain (Dice coefficient,
with repeats, on text as OCR scoring counts it). A transcription that matches its own reference is
settled. The others are compared with the references of pages on which the model's transcription
does not match either. Page A chooses the page B whose reference has the highest coefficient with
A's transcription, if that is at least `LEAST` and at least `TIMES` the coefficient with A's own
reference, and if no other page chooses B. Two texts that were swapped, and texts that moved by one
page, are pages of this kind.

Bounds: one pass over the transcriptions; a trigram of more than `MOST_PAGES` references is ignored,
and at most `MOST_TRIGRAMS` trigrams are indexed (of more, a sample by their hash, the same for
transcriptions and references). So the cost grows with the text and not with pairs of pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from zlib import crc32

from keju.analysis.asked_items import item_name
from keju.analysis.roles import model_role
from keju.analysis.run_set import RunSet
from keju.definitions import OWN_BENCHMARK, query_of
from keju.extraction import body_of
from keju.items import Item, Response
from keju.runs import RunFolder
from keju.scoring import ItemName
from keju.text import counted
from keju.texts import Text, _, join_sentences, listed

LEAST = 0.2
"""Minimum Dice coefficient of trigrams between a transcription and a reference. A transcription
with half of its characters wrong has about .12; two pages of one book have .05 and less."""

TIMES = 3
"""Minimum ratio to the coefficient with the page's own reference."""

SHORTEST = 20
"""Minimum length in characters of a transcription and of a reference for a comparison."""

MOST_PAGES = 20
"""Maximum number of references that contain a trigram; more frequent ones are ignored."""

MOST_TRIGRAMS = 1_000_000
"""Maximum trigrams in the index, about 200 MB."""

MOST_LINES = 20
"""Maximum pages that `keju ocr-report` prints."""

_LONGEST = 20_000
_CANDIDATES = 3


class SwappedPage(NamedTuple):
    """A page whose transcription matches the reference of another page, `text_of`.

    `models` have such transcriptions. `others` have one that matches the page's own reference: if
    there are any, not the texts but the transcriptions of `models` are swapped.
    """

    page: ItemName
    text_of: ItemName
    models: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def line(self) -> Text:
        """The page, the other one, and the models, in one sentence."""
        names = self.page[2], self.text_of[2], listed(self.models)
        if not self.others:
            return _("Texts swapped? {} was read as the text of {} (by {})", *names)
        return _(
            "Readings swapped? {} was read as the text of {} (by {}, but as its own text by {})",
            *names,
            listed(self.others),
        )


class SwapCheck(NamedTuple):
    """The swapped pages, and how many of the transcribed `pages` could not be checked.

    A page is `unchecked` if no transcription matches its own reference or another's: where more
    than about half of the characters are wrong, or they were read in another order. So is a text of
    own pages that is too short to be compared.
    """

    found: list[SwappedPage]
    unchecked: int = 0
    pages: int = 0

    @property
    def unchecked_note(self) -> Text | None:
        """A sentence on pages that could not be checked; None where all were."""
        if not self.unchecked:
            return None
        return _(
            "{:,} of {:,} pages cannot be checked for swapped texts, because no transcription "
            "agrees enough with a reference text. The check needs texts of {} characters or "
            "more, of which more than half are read correctly and in order",
            self.unchecked,
            self.pages,
            SHORTEST,
        )


class _Page(NamedTuple):
    text: str
    images: tuple[str, ...]


class SwapFinder:
    """Collects transcriptions one by one, and keeps those that do not match their own reference."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._pages: dict[ItemName, _Page] = {}
        self._short: set[ItemName] = set()
        for item in items:
            if query_of(item).form != "transcription" or not item.images:
                continue
            text = counted(item.answer or item.answer_simplified)[:_LONGEST]
            images = tuple(image.sha256 for image in item.images)
            if len(text) >= SHORTEST:
                self._pages[item_name(item)] = _Page(text, images)
            elif text and item.benchmark == OWN_BENCHMARK:
                self._short.add(item_name(item))
        self._transcribed: set[ItemName] = set()
        self._matching: dict[str, set[ItemName]] = {}
        self._unmatched: dict[str, dict[ItemName, str]] = {}

    @property
    def needed(self) -> bool:
        """Whether there are at least two pages, so that a swap is possible."""
        return len(self._pages) + len(self._short) > 1

    def add(self, model: str, key: ItemName, text: str) -> None:
        """Add the transcription of a page; only the first of a model counts."""
        page = self._pages.get(key)
        if page is not None or key in self._short:
            self._transcribed.add(key)
        unmatched = self._unmatched.setdefault(model, {})
        matching = self._matching.setdefault(model, set())
        if page is None or key in unmatched or key in matching:
            return
        transcription = counted(body_of(text)[:_LONGEST])
        if len(transcription) < SHORTEST:
            return
        if _compute_dice(transcription, page.text) >= LEAST:
            matching.add(key)
        else:
            unmatched[key] = transcription

    def found(self) -> list[SwappedPage]:
        """All such pages, in the order of their names."""
        models: dict[tuple[ItemName, ItemName], list[str]] = {}
        for model, unmatched in self._unmatched.items():
            for link in self._links(unmatched).items():
                models.setdefault(link, []).append(model)
        return [
            SwappedPage(
                page,
                text_of,
                tuple(names),
                tuple(name for name, own in self._matching.items() if page in own),
            )
            for (page, text_of), names in sorted(models.items())
        ]

    def check(self) -> SwapCheck:
        """The swapped pages, and the number of transcribed ones that match no text."""
        found = self.found()
        settled = {key for each in found for key in (each.page, each.text_of)}
        settled = settled.union(*self._matching.values())
        return SwapCheck(found, len(self._transcribed - settled), len(self._transcribed))

    def _links(self, unmatched: Mapping[ItemName, str]) -> dict[ItemName, ItemName]:
        """For each page whose transcription matches the reference of another page, that page."""
        index = _Index({key: self._pages[key].text for key in unmatched})
        best: dict[ItemName, tuple[float, ItemName]] = {}
        for key, transcription in unmatched.items():
            own = _compute_dice(transcription, self._pages[key].text)
            for other in index.candidates(transcription):
                same = self._pages[key].images == self._pages[other].images
                if other == key or other[:2] != key[:2] or same:
                    continue
                value = _compute_dice(transcription, self._pages[other].text)
                if value >= max(LEAST, TIMES * own) and value > best.get(key, (0.0,))[0]:
                    best[key] = (value, other)
        claims = Counter(other for _, other in best.values())
        return {key: other for key, (_, other) in best.items() if claims[other] == 1}


class _Index:
    """Which texts contain a trigram, bounded by `MOST_PAGES` and `MOST_TRIGRAMS`."""

    def __init__(self, texts: Mapping[ItemName, str]) -> None:
        total = sum(len(text) for text in texts.values())
        self._every = -(-total // MOST_TRIGRAMS)
        self._pages_of_trigram: dict[str, list[ItemName]] = {}
        for key, text in texts.items():
            for gram in self._sample_trigrams(text):
                pages = self._pages_of_trigram.setdefault(gram, [])
                if len(pages) <= MOST_PAGES:
                    pages.append(key)

    def candidates(self, text: str) -> list[ItemName]:
        """The few texts that share most trigrams with a text."""
        counts: Counter[ItemName] = Counter()
        for gram in self._sample_trigrams(text):
            pages = self._pages_of_trigram.get(gram, [])
            if len(pages) <= MOST_PAGES:
                counts.update(pages)
        return [key for key, _ in counts.most_common(_CANDIDATES)]

    def _sample_trigrams(self, text: str) -> set[str]:
        grams = set(_trigrams(text))
        if self._every <= 1:
            return grams
        return {gram for gram in grams if crc32(gram.encode()) % self._every == 0}


def _trigrams(text: str) -> Iterator[str]:
    return (text[at : at + 3] for at in range(len(text) - 2))


def _compute_dice(one: str, other: str) -> float:
    """Dice coefficient of two texts' trigrams, 0 to 1."""
    left, right = Counter(_trigrams(one)), Counter(_trigrams(other))
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def swapped_in(run: RunFolder) -> SwapCheck:
    """The swapped pages of a run, by the transcriptions of all models that got the images."""
    items = run.stored_items()
    finder = SwapFinder(items)
    if not finder.needed:
        return SwapCheck([])
    tasks = sorted({item.task for item in items if query_of(item).form == "transcription"})
    manifest = run.manifest()
    for response in run.responses(tasks=tasks):
        if saw_page(response, model_role(manifest, response.model)):
            key = response.task, response.query, response.item
            finder.add(response.model, key, response.text)
    return finder.check()


def swapped_of(run_set: RunSet) -> SwapCheck:
    """The swapped pages in the runs of a report; models and items have the report's names."""
    finder = SwapFinder(asked.item for asked in run_set.asked)
    for asked in run_set.asked if finder.needed else ():
        for answer in asked.answers:
            if saw_page(answer.response, run_set.by_model[answer.model].role):
                finder.add(answer.model, item_name(asked.item), answer.response.text)
    return finder.check()


def saw_page(response: Response, role: str) -> bool:
    """Whether a model of a role answered from the image; baselines get none, or another."""
    answered = response.status in ("answered", "truncated")
    image = response.setting == "image" and not response.model.startswith("ocr+llm:")
    return answered and image and role != "baseline"


def swap_lines(check: SwapCheck, hint: str = "") -> Iterator[Text]:
    """Output of `keju ocr-report`: at most `MOST_LINES` pages, a hint, and the unchecked pages."""
    found = check.found
    yield from (each.line for each in found[:MOST_LINES])
    if len(found) > MOST_LINES:
        yield _("Texts swapped? {:,} more; the report lists all of them", len(found) - MOST_LINES)
    if found:
        of_texts = any(not each.others for each in found)
        hints = [hint or _("Correct their texts, then import and run again")] if of_texts else []
        of_readings = dict.fromkeys(name for each in found if each.others for name in each.models)
        if of_readings:
            hints.append(_("Check the results of {}", listed(of_readings)))
        yield _("These pages are scored as they are. {}.", join_sentences(hints))
    if note := check.unchecked_note:
        yield note
