"""The glossary of a report: its terms, and the definitions of its metrics."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple

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


class Term(NamedTuple):
    """A term and its meaning."""

    name: Message
    meaning: Message


class PatternSense(NamedTuple):
    """The meaning of a reading pattern, and what can be done about it."""

    what: Message
    do: Message


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
        return {
            words(term.name): words(term.meaning)
            for key, term in self.terms.items()
            if key in also or _has(text, words(term.name), english=english)
        }

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
        terms(),
        _terms_of(_entries().layers),
        pattern_senses(),
        {
            metric: tuple(Sense(*sense, tuple(labels)) for sense, labels in found.items())
            for metric, found in sorted(senses.items(), key=lambda pair: pair[0].casefold())
        },
        places,
    )


def terms() -> Mapping[str, Term]:
    """The terms that every report defines, with their meanings."""
    return _terms_of(_entries().terms)


def _terms_of(entries: Mapping[str, _TermIds]) -> dict[str, Term]:
    return {key: Term(message(each.name), message(each.meaning)) for key, each in entries.items()}


class _TermIds(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    meaning: str


class _PatternIds(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    what: str
    do: str


class _Entries(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ids of the glossary's texts; see assets/glossary.toml."""

    terms: dict[str, _TermIds]
    layers: dict[str, _TermIds]
    patterns: dict[ReadingPattern, _PatternIds]


@cache
def _entries() -> _Entries:
    return shipped_toml("keju.reporting", "assets/glossary.toml", _Entries)


def pattern_senses() -> Mapping[ReadingPattern, PatternSense]:
    """The meaning of each reading pattern, and what can be done about it."""
    return {
        name: PatternSense(message(each.what), message(each.do))
        for name, each in _entries().patterns.items()
    }
