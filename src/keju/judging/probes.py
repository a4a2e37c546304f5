"""Probes of a judge: changes of answers that must, or must not, change the grade."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from keju.files import sha256_bytes, shipped_toml
from keju.items import Item, Request
from keju.judging.answers import GradableAnswer
from keju.judging.prompting import grading_request
from keju.judging.rubrics import Rubrics

PLAIN = "plain"
_FILE = "probes.toml"


class Probe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of an answer; probes.toml explains the fields."""

    about: str
    base: Literal["answer", "reference", "another"]
    text: str = "{text}"
    author: str = ""
    against: str = ""
    expected: float | None = None
    flag: Literal["", "up", "down", "not-down"] = ""
    obeys: bool = False


class Probes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    rivals: tuple[str, ...]
    not_applicable: dict[str, str]
    probes: dict[str, Probe]


class Probing(NamedTuple):
    """One changed answer: its probe, the answer, and the request to the judge."""

    probe: str
    judged: GradableAnswer
    request: Request


@cache
def declared_probes() -> Probes:
    """The probes, read from the file beside this module."""
    return shipped_toml("keju.judging", _FILE, Probes)


def probings(drawn: Sequence[GradableAnswer], rubrics: Rubrics, judge: str) -> Iterator[Probing]:
    """Every probe of every answer in the sample.

    A probe that needs another item's reference is skipped where no other group of the same query
    has a different one. The plain answer has the same request as in grading, so a stored grade is
    used.

    Args:
        drawn: answers of one run, with texts.
        rubrics: by which they are graded.
        judge: the model string of the judge, whose name is appended in some probes.
    """
    own = judge.partition(":")[2].rpartition("/")[2] or judge
    known = declared_probes()
    rivals = [name for name in known.rivals if name.casefold() not in own.casefold()]
    by_query: dict[tuple[str, str], list[GradableAnswer]] = defaultdict(list)
    for each in drawn:
        by_query[each.item.task, each.item.query].append(each)
    for place, each in enumerate(drawn):
        others = by_query[each.item.task, each.item.query]
        bases = {
            "answer": each.text,
            "reference": each.item.answer,
            "another": _another(each, others),
        }
        for name, probe in known.probes.items():
            base = bases[probe.base]
            if base is None:
                continue
            author = probe.author.replace("{rival}", rivals[place % len(rivals)])
            request = grading_request(
                each.id,
                each.item,
                probe.text.strip().replace("{text}", base),
                rubrics,
                probe="" if name == PLAIN else name,
                author=author.replace("{judge}", own),
            )
            yield Probing(name, each, request)


def _another(judged: GradableAnswer, others: Sequence[GradableAnswer]) -> str | None:
    """The reference of an item of another group, selected by the two items' names."""
    item = judged.item
    fitting: dict[str, Item] = {
        other.item.id: other.item
        for other in others
        if other.group != judged.group and other.item.answer not in _right(item)
    }
    if not fitting:
        return None
    drawn = min(fitting, key=lambda name: sha256_bytes(f"{item.id}\0{name}".encode()))
    return fitting[drawn].answer


def _right(item: Item) -> tuple[str, ...]:
    return (item.answer, *item.also_accepted)
