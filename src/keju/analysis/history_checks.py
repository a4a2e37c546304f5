"""Check that the runs of a history can be compared: same items, prompts, benchmark and scoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from keju.analysis.comparison_sides import LabelledSide
from keju.analysis.score_sources import contents_of
from keju.errors import UsageError, shortened
from keju.items import Protocol
from keju.texts import _, n_

_Labelled = tuple[str, LabelledSide]


def check_alike(sides: Sequence[_Labelled], protocol: Protocol) -> None:
    """Check each label against the first.

    Args:
        sides: the labels with their sides.
        protocol: the protocol whose scores are compared.

    Raises:
        UsageError: two labels differ in the prompt variant, system prompt, boxes, rounds, pair
            form, benchmark, items, answered items or the signature of a metric.
        DataError: a file of a run is damaged.
    """
    first = sides[0]
    for other in sides[1:]:
        for what, one, two in _differences(first[1], other[1], protocol):
            if one != two:
                raise UsageError(
                    "{} and {} differ in {}: {} and {}. The runs of a history must have the same "
                    "items, prompts and scoring",
                    first[0],
                    other[0],
                    what,
                    shortened(one) or _("none"),
                    shortened(two) or _("none")
                )  # fmt: skip
        _check_items(first, other)
        _check_answered(first, other, protocol)


def _differences(
    first: LabelledSide, second: LabelledSide, protocol: Protocol
) -> Iterator[tuple[str, str, str]]:
    """The properties that must be equal, each with its value on both sides."""
    one, two = (side.run.manifest() for side in (first, second))
    options = ("--setting", "--script", "--wording")
    yield from zip(options, first.variant, second.variant, strict=True)
    yield "--system-prompt", one.system_hash(first.model), two.system_hash(second.model)
    yield "--boxes", one.settings.get("boxes", ""), two.settings.get("boxes", "")
    yield "--rounds", str(one.rounds), str(two.rounds)
    yield "--pairs", one.pairs, two.pairs
    names = sorted({*one.benchmarks, *two.benchmarks})
    for name in names:
        texts = one.benchmarks.get(name), two.benchmarks.get(name)
        own, other = (_definition(name, text) for text in texts)
        yield _("the definition of the benchmark"), own, other
    yield _("the signature of a metric"), *_signatures(first, second, protocol)


def _definition(name: str, text: str | None) -> str:
    """The name of a benchmark with a short hash of its definition; empty if there is none."""
    return f"{name} ({sha256(text.encode()).hexdigest()[:8]})" if text is not None else ""


def _signatures(first: LabelledSide, second: LabelledSide, protocol: Protocol) -> tuple[str, str]:
    """The first differing signature of a metric of both sides; two empty texts if none differs."""
    one, two = (
        {
            (score.task, score.query, score.metric): score.signature
            for score in side.scores
            if score.protocol == protocol and score.signature and score.value is not None
        }
        for side in (first, second)
    )
    return next(
        ((one[key], two[key]) for key in one if two.get(key, one[key]) != one[key]), ("", "")
    )


def _check_items(first: _Labelled, second: _Labelled) -> None:
    one, two = map(dict, contents_of(first[1].run, second[1].run))
    differing = [key for key in {**one, **two} if one.get(key) != two.get(key)]
    if differing:
        raise UsageError(
            n_(
                "the items of {} and {} differ ({n:,} item, for example {}). Run both labels "
                "with the same dataset and the same selection of items",
                "the items of {} and {} differ ({n:,} items, for example {}). Run both labels "
                "with the same dataset and the same selection of items",
                len(differing),
                first[0],
                second[0],
                shortened(differing[0][2])
            )
        )  # fmt: skip


def _check_answered(first: _Labelled, second: _Labelled, protocol: Protocol) -> None:
    one, two = (
        {
            (score.task, score.query, score.item, score.round)
            for score in side.scores
            if score.protocol == protocol
        }
        for _, side in (first, second)
    )
    if one != two:
        fewer = first[0] if len(one) < len(two) else second[0]
        lacking = sorted(one ^ two)
        raise UsageError(
            n_(
                "{} has no scores of {n:,} item that another label has, for example {}. Resume "
                "its run with keju run, and score it again",
                "{} has no scores of {n:,} items that another label has, for example {}. Resume "
                "its run with keju run, and score it again",
                len(lacking),
                fewer,
                shortened(lacking[0][2])
            )
        )  # fmt: skip
