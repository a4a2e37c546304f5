"""Texts of an audit's report in English and Chinese: sizes, places, kinds of findings."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from keju.files import shipped_toml
from keju.published import Finding, Section, Size, paper, papers

Language = Literal["en", "zh"]

_BETWEEN = "·"
_UNBROKEN = "\N{NO-BREAK SPACE}"
_PATTERNS = {"_detection": "", ":Acc@?": ":Acc@k", ":Recall@1*": ":Recall@1, Recall@10", "/*": ""}
_COLUMN = re.compile(
    r"(?P<task>[^/@:]+)(?:/(?P<query>[^@:]+))?(?:@(?P<subset>[^:]+))?:(?P<metric>.+)"
)


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fixed texts of one language; see assets/audit_words.toml."""

    head: str
    claims_head: str
    method: str
    comma: str
    colon: str
    semicolon: str
    stop: str
    place: str
    cells: str
    findings: str
    claims: str
    held: str
    tested: str
    failing: str
    whole: str
    extracted: str
    ranks_open: str
    ranks_move: str
    points: str
    counted: str
    claim_columns: tuple[str, ...]
    kinds: dict[str, str]
    certainties: dict[str, str]
    verdicts: dict[str, str]
    counts: dict[str, str]
    columns: dict[str, str]
    places: dict[str, str]
    tables: dict[str, str]
    tasks: dict[str, str]


@cache
def words(language: Language) -> Words:
    """The texts of a language."""
    return shipped_toml("keju.reporting", "assets/audit_words.toml", dict[str, Words])[language]


def size_text(size: Size, language: Language) -> str:
    """The size of a finding as a phrase: ranks, points and cells, if computed."""
    use, parts = words(language), []
    if size.ranks is not None:
        ranks = use.ranks_move if size.pairs is None else use.ranks_open
        parts.append(ranks.format(ranks=size.ranks, ranked=size.ranked, pairs=size.pairs))
    if size.points is not None:
        parts.append(use.points.format(points=size.points))
    parts.append(use.counted.format(cells=size.cells, compared=size.compared))
    return use.comma.join(parts)


def kind_text(section: Section, language: Language) -> str:
    """Severity and certainty of a section, and whether the text extraction may be wrong."""
    use = words(language)
    parts = [use.kinds[section.severity], use.certainties[section.certainty]]
    return use.comma.join([*parts, use.extracted] if section.artefact else parts)


def title_text(finding: Finding, language: Language) -> str:
    """The title of a finding; its first sentence where it has none."""
    return (finding.title_zh if language == "zh" else "") or finding.title or finding.says


def finding_text(finding: Finding, language: Language) -> str:
    """The finding and its consequence."""
    if language == "zh" and finding.says_zh:
        return finding.says_zh + finding.consequence_zh
    return f"{finding.says} {finding.consequence}".strip()


def place_text(place: str, language: Language) -> str:
    """A place for display: ``Table 5, retrieval/How@OBC306:mAP@5`` without its punctuation."""
    return " ".join(filter(None, place_parts(place, language)))


def place_parts(place: str, language: Language) -> tuple[str, str]:
    """The table and the column of a place, for display."""
    for pattern, text in _PATTERNS.items():
        place = place.replace(pattern, text)
    table, _, column = place.partition(", ")
    parts = _COLUMN.fullmatch(column)
    if parts:
        task = _short_names(language).get(parts["task"], parts["task"])
        metric = "" if parts["metric"] == "mean" else parts["metric"].replace("_", " ")
        pieces = filter(None, (task, parts["query"], parts["subset"], metric))
        column = _BETWEEN.join(each.replace(" ", _UNBROKEN) for each in pieces)
    return _table_text(table, language), words(language).columns.get(column, column)


def _short_names(language: Language) -> dict[str, str]:
    """The names of tasks in texts, and the replacements for their ids."""
    names = dict(words(language).tasks)
    for known in map(paper, papers()):
        names |= known.short_names_zh if language == "zh" else known.short_names
    return names


def claim_place(place: str, language: Language) -> str:
    """``Section 4.1, paragraph 2`` as ``4.1/2``, in the language of the page."""
    for before, after in words(language).places.items():
        place = place.replace(before, after)
    return place


def _table_text(table: str, language: Language) -> str:
    names = table.split(" + ")
    for before, after in words(language).tables.items():
        names = [name.replace(before, after) for name in names]
    if language == "en" and len(names) > 1:
        return f"Tables {' and '.join(name.removeprefix('Table ') for name in names)}"
    return "、".join(names)
