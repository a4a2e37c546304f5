"""Swapped pages: transcriptions that match the reference of another page.

A transcription is compared with a reference by the trigrams that both contain (Dice coefficient,
with repeats, on text as OCR scoring counts it). A transcription that matches its own reference is
settled. The others are compared with the references of pages on which the model's transcription
does not match either. Page A chooses the page B whose reference has the highest coefficient with
A's transcription, if that is at least `LEAST` and at least `TIMES` the coefficient with A's own
reference. A is linked to B if no other page chooses B. Swaps and cycles are closed chains of links;
texts that moved by one page are open chains.

Bounds: one pass over the transcriptions; a trigram of more than `MOST_PAGES` references is ignored,
and at most `MOST_TRIGRAMS` trigrams are indexed (of more, a sample by their hash, the same for
transcriptions and references). So the cost grows with the text and not with pairs of pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
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

MOST_LINES, MOST_NAMED = 20, 30
"""Maximum chains that `keju score` prints, and named pages of a chain."""

_LONGEST = 20_000
_CANDIDATES = 3


class SwapChain(NamedTuple):
    """Pages of one task where the transcription of each matches the reference of the next.

    Attributes:
        pages: the items, in the order of the chain.
        closed: whether the transcription of the last matches the reference of the first.
        models: the models with such transcriptions, with the number of pages where it is a part of
            them.
        others: models whose transcriptions match the pages' own references. If there are any, not
            the texts but the transcriptions of `models` are swapped.
    """

    pages: tuple[ItemName, ...]
    closed: bool
    models: tuple[str, ...]
    others: tuple[str, ...]


class SwapCheck(NamedTuple):
    """The swapped pages, and how many of the transcribed `pages` could not be checked.

    A page is `unchecked` if no transcription matches its own reference or another's: where more
    than about half of the characters are wrong, or they were read in another order. So is a text of
    own pages that is too short to be compared.
    """

    found: list[SwapChain]
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

    def found(self) -> list[SwapChain]:
        """All chains of at least two pages, the longest first."""
        models: dict[_Chain, list[str]] = {}
        for model, unmatched in self._unmatched.items():
            for chain in _chains(self._links(unmatched)):
                models.setdefault(chain, []).append(model)
        found: list[SwapChain] = []
        for (pages, closed), names in _merge_parts(models).items():
            matching = [
                name
                for name, own in self._matching.items()
                if name not in models.get((pages, closed), ())
                and 2 * len(own & set(pages)) > len(pages)
            ]
            found.append(SwapChain(pages, closed, tuple(names), tuple(matching)))
        return sorted(found, key=lambda each: (-len(each.pages), each.pages))

    def check(self) -> SwapCheck:
        """All chains, and the number of transcribed pages that are in none and match no text."""
        found = self.found()
        settled = {key for each in found for key in each.pages}.union(*self._matching.values())
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


_Chain = tuple[tuple[ItemName, ...], bool]
"""Pages, and whether the last is linked to the first."""


def _merge_parts(models: Mapping[_Chain, Sequence[str]]) -> dict[_Chain, list[str]]:
    """The chains with their models; parts of a longer chain are merged into it.

    A model with only parts of a chain is listed with the number of its pages.
    """
    kept: dict[_Chain, list[str]] = {}
    pieces: dict[_Chain, Counter[str]] = {}
    for (pages, closed), names in sorted(models.items(), key=lambda each: -len(each[0][0])):
        whole = next((longer for longer in kept if _is_piece(pages, longer)), None)
        if whole is None or closed:
            kept[pages, closed] = list(names)
        else:
            pieces.setdefault(whole, Counter()).update(dict.fromkeys(names, len(pages)))
    for whole, counts in pieces.items():
        total = len(whole[0])
        for name, part in counts.items():
            kept[whole].append(
                _("{} ({:,} of {:,} pages)", name, part, total) if part < total else name
            )
    return kept


def _is_piece(pages: Sequence[ItemName], longer: _Chain) -> bool:
    """Whether an open chain's links are all links of a longer chain."""
    following = dict(pairwise(longer[0]))
    if longer[1]:
        following[longer[0][-1]] = longer[0][0]
    return all(following.get(one) == other for one, other in pairwise(pages))


def _chains(links: Mapping[ItemName, ItemName]) -> Iterator[_Chain]:
    """The chains of a one-to-one relation, each from its beginning or its smallest page."""
    ends = set(links.values())
    left = set(links)
    for start in sorted(key for key in links if key not in ends):
        chain = _follow(start, links)
        left.difference_update(chain)
        yield chain, False
    while left:
        chain = _follow(min(left), links)
        left.difference_update(chain)
        yield chain, True


def _follow(start: ItemName, links: Mapping[ItemName, ItemName]) -> tuple[ItemName, ...]:
    chain = [start]
    while (following := links.get(chain[-1])) is not None and following != start:
        chain.append(following)
    return tuple(chain)


def swapped_in(run: RunFolder) -> SwapCheck:
    """The swapped pages of a run, by the transcriptions of all models that got the images."""
    finder = SwapFinder(run.iter_items())
    if not finder.needed:
        return SwapCheck([])
    items = run.iter_items()
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


class SwapLine(NamedTuple):
    """One chain in the report: items by name and number, what happened, and the models."""

    head: str
    items: list[tuple[str, int]]
    more: int
    what: str
    models: str
    others: str


def _head(each: SwapChain) -> Text:
    """The heading of a chain; another where other models transcribed the pages' own texts."""
    if each.others:
        return _("Readings swapped?")
    return _("Texts swapped?")


def _describe_chain(each: SwapChain) -> Text:
    if not each.closed:
        return _("each page was read as the text of the next")
    if len(each.pages) == 2:
        return _("each page was read as the text of the other")
    return _("each page was read as the text of the next, and the last as that of the first")


def swap_table(found: Sequence[SwapChain], run_set: RunSet) -> list[SwapLine]:
    """The chains as the report lists them, with the number of each item in the report."""
    numbers = {item_name(asked.item): at for at, asked in enumerate(run_set.asked)}
    return [
        SwapLine(
            head=_head(each),
            items=[(key[2], numbers[key]) for key in each.pages[:MOST_NAMED]],
            more=max(0, len(each.pages) - MOST_NAMED),
            what=_describe_chain(each),
            models=listed(each.models),
            others=listed(each.others),
        )
        for each in found
    ]


def swap_lines(check: SwapCheck, hint: str = "") -> Iterator[Text]:
    """Output of `keju score`: one line per chain, at most `MOST_LINES`, a hint, unchecked pages."""
    found = check.found
    yield from map(_swap_line, found[:MOST_LINES])
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


def _swap_line(each: SwapChain) -> Text:
    names: str = listed([item for _, _, item in each.pages[:MOST_NAMED]])
    if (more := len(each.pages) - MOST_NAMED) > 0:
        names = _("{} and {:,} more", names, more)
    head, what, models = _head(each), _describe_chain(each), listed(each.models)
    if not each.others:
        return _("{} {}: {} (by {})", head, names, what, models)
    return _(
        "{} {}: {} (by {}, but as its own text by {})",
        head,
        names,
        what,
        models,
        listed(each.others)
    )  # fmt: skip
