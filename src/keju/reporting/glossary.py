"""The glossary of a report: its terms, and the definitions of its metrics."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple

from msgspec import field

from keju.analysis.labels import metric_of_task, task_name
from keju.analysis.leaderboard import Results
from keju.definitions import task
from keju.files import shipped_toml
from keju.items import Protocol, Record
from keju.layout import ReadingPattern
from keju.messages import Message, message
from keju.scoring import PROTOCOLS
from keju.translations import Words

_TAG = re.compile(r"<[^>]*>")

_Place = tuple[Protocol, str, str]


class Sense(NamedTuple):
    """The meaning of a metric in some tasks under one protocol.

    `pooling` describes how a task's value is computed from its items' values; `tasks` are the
    tasks' names.
    """

    protocol: Protocol
    definition: str
    pooling: str
    tasks: tuple[str, ...]


class Term(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A term and its meaning, as the ids of their texts."""

    name_id: str = field(name="name")
    meaning_id: str = field(name="meaning")

    @property
    def name(self) -> Message:
        """The term."""
        return message(self.name_id)

    @property
    def meaning(self) -> Message:
        """Its meaning."""
        return message(self.meaning_id)


class PatternSense(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The meaning of a reading pattern, and what can be done about it, as the ids of texts."""

    what_id: str = field(name="what")
    do_id: str = field(name="do")

    @property
    def what(self) -> Message:
        """The meaning of the pattern."""
        return message(self.what_id)

    @property
    def do(self) -> Message:
        """The advice on the pattern."""
        return message(self.do_id)


class Glossary(NamedTuple):
    """The definitions of a report; `metrics` are exactly those with values in its runs.

    Terms and layers have keys such as ``reading-order``.
    """

    terms: Mapping[str, Term]
    layers: Mapping[str, Term]
    patterns: Mapping[ReadingPattern, PatternSense]
    metrics: Mapping[str, tuple[Sense, ...]]
    places: Mapping[_Place, str]

    def of(self, protocol: Protocol, label: str, metric: str) -> str:
        """The definition of a metric, or of ``Acc ↓``, in a task; empty where it has none."""
        return self.places.get((protocol, label, metric.removesuffix(" ↓")), "")

    def printed(self, benchmark: str, metric: str) -> str:
        """The definition of a metric in the tables of a paper, under ``official``."""
        name = metric.removesuffix(" ↓")
        found = [
            definition
            for (protocol, label, its), definition in self.places.items()
            if (protocol, its) == ("official", name)
            and task(label.partition("/")[0]).benchmark == benchmark
        ]
        return found[0] if len(set(found)) == 1 else ""

    def occurring(self, page: str, words: Words, also: Collection[str] = ()) -> dict[str, str]:
        """The terms that a page's text has, with their meanings, all as the page shows them.

        Args:
            page: the page's HTML.
            words: the page's language.
            also: keys of terms that the page shows later, when items are opened.
        """
        text = _TAG.sub(" ", page)
        english = words.language == "en"
        names = words.texts([term.name_id for term in self.terms.values()])
        shown = [
            term
            for key, term in self.terms.items()
            if key in also or _has(text, names[term.name_id], english=english)
        ]
        meanings = words.texts([term.meaning_id for term in shown])
        return {names[term.name_id]: meanings[term.meaning_id] for term in shown}

    def head(self, head: str) -> str:
        """The definition of a column head: a protocol, or ``protocol: metric``."""
        protocol, _, metric = head.partition(": ")
        found = [
            sense.definition for sense in self.metrics.get(metric, ()) if sense.protocol == protocol
        ]
        return found[0] if len(found) == 1 else self.terms[protocol].meaning


def _has(text: str, term: str, *, english: bool) -> bool:
    if not english:
        return term in text
    return re.search(rf"\b{re.escape(term)}s?\b", text, re.IGNORECASE) is not None


def glossary(results: Results) -> Glossary:
    """The report's terms, and each metric of these results with all its meanings in them."""
    senses: dict[str, dict[tuple[Protocol, str, str], list[str]]] = {}
    places: dict[_Place, str] = {}
    for (_, protocol), result in sorted(
        results.items(), key=lambda each: -PROTOCOLS.index(each[0][1])
    ):
        for each in result.tasks:
            label = task_name(each.task, each.query)
            for metric in (found.metric for found in each.metrics):
                where = (each.task, each.query, protocol, metric)
                declared = metric_of_task(*where)
                sense = (protocol, declared.rule, declared.over.rule)
                named = senses.setdefault(metric, {}).setdefault(sense, [])
                if label not in named:
                    named.append(label)
                places[protocol, label, metric] = declared.rule
    return Glossary(
        _entries().terms,
        _entries().layers,
        _entries().patterns,
        {
            metric: tuple(Sense(*sense, tuple(labels)) for sense, labels in found.items())
            for metric, found in sorted(senses.items(), key=lambda pair: pair[0].casefold())
        },
        places,
    )


def terms() -> Mapping[str, Term]:
    """The terms that every report defines, with their meanings."""
    return _entries().terms


class _Entries(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ids of the glossary's texts; see assets/glossary.toml."""

    terms: dict[str, Term]
    layers: dict[str, Term]
    patterns: dict[ReadingPattern, PatternSense]


@cache
def _entries() -> _Entries:
    return shipped_toml("keju.reporting", "assets/glossary.toml", _Entries)


def pattern_senses() -> Mapping[ReadingPattern, PatternSense]:
    """The meaning of each reading pattern, and what can be done about it."""
    return _entries().patterns
