"""The glossary of a report: its terms, and the definitions of its metrics."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from keju.analysis.labels import metric_of_task, task_name
from keju.analysis.leaderboard import Results
from keju.definitions import task
from keju.items import Protocol
from keju.layout import ReadingPattern
from keju.reporting.terms import LAYERS, PATTERNS, TERMS, PatternSense, Term
from keju.scoring import PROTOCOLS
from keju.words import Words

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
        shown = [
            term
            for key, term in self.terms.items()
            if key in also or _has(text, words(term.name), english=english)
        ]
        return {words(term.name): words(term.meaning) for term in shown}

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
        TERMS,
        LAYERS,
        PATTERNS,
        {
            metric: tuple(Sense(*sense, tuple(labels)) for sense, labels in found.items())
            for metric, found in sorted(senses.items(), key=lambda pair: pair[0].casefold())
        },
        places,
    )
