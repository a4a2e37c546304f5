"""`compare_scores`: compare stored scores with those that were computed again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import zip_longest
from typing import NamedTuple

from keju.bundles.verification import TOLERANCE, Findings
from keju.definitions.protocols import PROTOCOL_ROWS
from keju.errors import shortened
from keju.items import Score
from keju.texts import _

_CHECK = "scores"
_FIELDS = ("value", "stats", "status", "verdict", "reason", "extracted", "extracted_from", "key",
           "group", "model", "benchmark")  # fmt: skip
"""The fields of a score that must be equal."""

_ENCODER = "|encoder:"
Place = tuple[object, ...]


class ScoresToCompare(NamedTuple):
    """The scores of a model: the member that stores them, and how they are compared.

    Signatures are compared only if `same_program`: the versions of keju and of its packages are the
    same. `groups` has the number of each group in the bundle.
    """

    member: str
    same_program: bool
    groups: Mapping[str, str]


def compare_scores(
    scores: ScoresToCompare, stored: Iterable[Score], computed: Iterable[Score], findings: Findings
) -> None:
    """Compare two lists of scores; both are streamed, and usually in the same order.

    Scores of a protocol that the stored ones do not have are recorded as not verified.
    """
    protocols: set[str] = set()
    left: dict[Place, Score] = {}
    right: dict[Place, Score] = {}
    for one, other in zip_longest(stored, computed):
        if one is not None:
            protocols.add(one.protocol)
            _match(scores, one, left, right, findings, is_stored=True)
        if other is not None:
            _match(scores, other, right, left, findings, is_stored=False)
    for score in left.values():
        findings.add_compared(_CHECK)
        _add_difference(
            scores, score, _("a stored score does not follow from any response"), findings
        )
    for score in right.values():
        if score.protocol in protocols:
            findings.add_compared(_CHECK)
            _add_difference(
                scores, score, _("a score that follows from the responses is not stored"), findings
            )
        else:
            part = _("`{}` scores of {}", score.protocol, score.model)
            reason = _("the bundle does not contain them")
            findings.add_not_verified(part, reason, count=1, needed=False)


def _match(
    scores: ScoresToCompare,
    score: Score,
    own: dict[Place, Score],
    others: dict[Place, Score],
    findings: Findings,
    *,
    is_stored: bool,
) -> None:
    place = (
        score.task, score.query, score.item, score.protocol, score.metric, score.setting,
        score.script, score.wording, score.round,
    )  # fmt: skip
    other = others.pop(place, None)
    if other is None:
        if place in own:
            _add_difference(scores, score, _("the score is stored twice"), findings)
        own[place] = score
    elif is_stored:
        _compare(scores, score, other, findings)
    else:
        _compare(scores, other, score, findings)


def _compare(scores: ScoresToCompare, stored: Score, computed: Score, findings: Findings) -> None:
    encoded = _ENCODER in stored.signature or _ENCODER in computed.signature
    if computed.value is None and (stored.value is not None or stored.reason != computed.reason):
        if encoded and stored.value is not None:
            part = _("values of {}", stored.metric)
            findings.add_not_verified(
                part, _("the encoder is missing. Give its weights with --semantic"), count=1
            )
            return
        if not PROTOCOL_ROWS[stored.protocol].reads_all and find_spec("zhconv") is None:
            part = _("values of {}", stored.metric)
            findings.add_not_verified(
                part,
                _(
                    "the package zhconv is not installed. Install it with: pip install "
                    '"keju[official]"'
                ),
                count=1,
            )
            return
    if stored.value is None and computed.value is not None and encoded:
        return
    findings.add_compared(_CHECK)
    # Another version may read another answer; its signatures are not compared either.
    names = (*_FIELDS, "read_by", "if_right") if scores.same_program else _FIELDS
    for name in names:
        was, now = getattr(stored, name), getattr(computed, name)
        now = scores.groups[computed.group] if name == "group" else now
        if was != now and not (encoded and _is_near(was, now)):
            problem = _(
                "{} ({}): {} is {}, but {} when it is computed again",
                stored.metric,
                stored.protocol,
                name,
                _format(was),
                _format(now)
            )  # fmt: skip
            _add_difference(scores, stored, problem, findings)
            return
    if scores.same_program and stored.signature != computed.signature and not encoded:
        problem = _(
            "{} ({}): {} is {}, but {} when it is computed again",
            stored.metric,
            stored.protocol,
            "signature",
            _format(stored.signature),
            _format(computed.signature)
        )  # fmt: skip
        _add_difference(scores, stored, problem, findings)


def _add_difference(
    scores: ScoresToCompare, score: Score, problem: str, findings: Findings
) -> None:
    findings.add_difference(_CHECK, scores.member, score.item, problem)


def _is_near(was: object, now: object) -> bool:
    """Whether two values, or all statistics of two scores, differ by at most `TOLERANCE`."""
    if isinstance(was, float) and isinstance(now, float):
        return abs(was - now) <= TOLERANCE
    if isinstance(was, dict) and isinstance(now, dict):
        return was.keys() == now.keys() and all(_is_near(was[name], now[name]) for name in was)
    return False


def _format(value: object) -> str:
    return shortened(value if isinstance(value, str) else repr(value), 60)
