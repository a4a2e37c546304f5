"""The sides of comparisons and histories: a run, one of its models and a prompt variant each."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, TypeVar

import polars as pl
from msgspec import convert

from keju.analysis.score_sources import ScoredRun, ScoreSource, find_same_items, source_of
from keju.errors import UsageError
from keju.items import PromptVariant, Protocol, Record, Score, variant_of
from keju.scoring import PROTOCOLS, ItemName, SideScores
from keju.texts import _, both, listed

S = TypeVar("S")
_HASH = re.compile("@[0-9a-f]{8}")
"""The hash in the name of a user's own wording, which may be omitted."""


Kind = Literal["model", "setting", "script", "wording"]
PARTS: tuple[Kind, ...] = ("setting", "script", "wording")
"""The parts of a prompt variant, in its order."""


class SideChoice(Record, frozen=True, kw_only=True):
    """The parts that the user names, and the kind of part in which the sides differ.

    Each part has one name, of both sides, or two, of the first side and the second. Without a name,
    or with an empty one, the runs decide.
    """

    by: Kind | Literal[""] = ""
    model: tuple[str, ...] = ()
    setting: tuple[str, ...] = ()
    script: tuple[str, ...] = ()
    wording: tuple[str, ...] = ()

    def check(self) -> None:
        """Check that no part has more than two names.

        Raises:
            UsageError: such a part.
        """
        for kind in ("model", *PARTS):
            if len(getattr(self, kind)) > 2:
                raise UsageError("--{} is given more than twice, but there are two sides", kind)

    def named(self, kind: Kind, place: int) -> str:
        """The name of a part on the first side (0) or the second (1); empty without one."""
        names: tuple[str, ...] = getattr(self, kind)
        return names[min(place, len(names) - 1)] if names else ""

    def variant(self, place: int) -> tuple[str, str, str]:
        """Setting, script and wording of the first side (0) or the second, as far as given."""
        setting, script, wording = (self.named(kind, place) for kind in PARTS)
        return setting, script, wording


class Side(NamedTuple):
    """One side: the scores of one model of a run in one prompt variant."""

    run: ScoreSource
    model: str
    variant: PromptVariant
    scores: SideScores


def choose_sides(
    runs: Sequence[ScoredRun], wanted: SideChoice, protocol: Protocol
) -> tuple[Side, Side]:
    """Find the two sides in one run or two, with their scores of items that are the same in both.

    Args:
        runs: run directories or bundles.
        wanted: the parts that the user names.
        protocol: whose main metrics are compared.

    Raises:
        UsageError: a model or prompt variant is not there, more than one fits, both sides are the
            same, a part has more than two names, or a run has not been scored or has changed since.
        DataError: a file of a run is damaged.
    """
    if not 1 <= len(runs) <= 2:
        raise UsageError("keju compare takes one run or two, not {}", len(runs))
    wanted.check()
    sources = [source_of(run) for run in runs]
    pair = sources[0], sources[-1]
    if len(runs) == 2 and pair[0].path.resolve() == pair[1].path.resolve():
        raise UsageError("{} is given twice. Give another run, or this one once", pair[0].path)
    models = _models(pair, wanted, several=len(runs) == 2)
    if len(runs) == 1:
        pair[0].check(list(dict.fromkeys(models)))
    same = find_same_items(*pair) if len(runs) == 2 else None
    kept = [
        _scores(run, model, wanted.variant(place), protocol, same)
        for place, (run, model) in enumerate(zip(pair, models, strict=True))
    ]
    if wanted.by in PARTS:
        kept = _by_part(pair, models, kept, PARTS.index(wanted.by))
    alone = pair[0].path == pair[1].path and models[0] == models[1]
    if alone and kept[0].keys() == kept[1].keys() and len(kept[0]) == 2:
        (one, first), (other, second) = kept[0].items()
        return Side(pair[0], models[0], one, first), Side(pair[1], models[1], other, second)
    first_side, second_side = (
        _only(run, model, found) for run, model, found in zip(pair, models, kept, strict=True)
    )
    if alone and first_side.variant == second_side.variant:
        raise UsageError(
            "{}: both sides are {}. Name what differs: a second run, or two with --model, "
            "--setting, --script or --wording, each given twice",
            pair[0].path,
            models[0],
        )
    return first_side, second_side


def names_of(first: Side, second: Side) -> tuple[str, str]:
    """The name of each side: its model, and what else differs from the other."""
    one, other = ((run, *side.variant) for run, side in
                  zip(_run_names(first, second), (first, second), strict=True))  # fmt: skip
    parts = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return (
        " · ".join([first.model, *(pair[0] for pair in parts)]),
        " · ".join([second.model, *(pair[1] for pair in parts)]),
    )


def shared_variant(first: Side, second: Side) -> str:
    """The parts of the prompt variant that both sides share, unless they are the default."""
    shared = (
        one if one == other else usual
        for one, other, usual in zip(first.variant, second.variant, PromptVariant(), strict=True)
    )
    return convert(tuple(shared), PromptVariant).label()


def _models(
    pair: tuple[ScoreSource, ScoreSource], wanted: SideChoice, *, several: bool
) -> tuple[str, str]:
    known = [list(run.manifest().models) for run in pair]
    if wanted.named("model", 0):
        named = wanted.named("model", 0), wanted.named("model", 1)
        for run, name, there in zip(pair, named, known, strict=True):
            if name not in there:
                raise UsageError(
                    "{}: no model {!r}. Choose from: {}", run.path, name, listed(there)
                )
        return named
    in_variants = wanted.by in PARTS or any(len(getattr(wanted, kind)) > 1 for kind in PARTS)
    if not several and not in_variants and len(known[0]) == 2:
        return known[0][0], known[0][1]
    if len(known[0]) == len(known[1]) == 1:
        return known[0][0], known[1][0]
    shared = [name for name in known[0] if name in known[1]]
    if several and len(shared) == 1:
        return shared[0], shared[0]
    raise UsageError(
        "{}: name the model with --model M, or two models with --model A --model B. Models: {}",
        pair[0].path,
        listed(dict.fromkeys(known[0] + known[1])),
    )


def _scores(
    run: ScoreSource,
    model: str,
    given: tuple[str, str, str],
    protocol: Protocol,
    among: Collection[ItemName] | None,
) -> dict[PromptVariant, SideScores]:
    """The scores that fit one side, by prompt variant."""
    frames = [
        frame.filter(pl.col("protocol").is_in(PROTOCOLS)) for frame in run.score_frames(model)
    ]
    by_variant = pl.concat(frames).partition_by(*PARTS, as_dict=True) if frames else {}
    sides = {
        PromptVariant(*variant): SideScores(protocol, scores, among=among)
        for variant, scores in by_variant.items()
    }
    return _fitting(run, model, given, dict(sorted(sides.items(), key=lambda side: side[0].rank)))


def _by_part(
    pair: tuple[ScoreSource, ScoreSource],
    models: tuple[str, str],
    sides: list[dict[PromptVariant, SideScores]],
    part: int,
) -> list[dict[PromptVariant, SideScores]]:
    """The scores of each side, which are those of one of the two values of the part.

    Raises:
        UsageError: the part does not have two values.
    """
    values = list(dict.fromkeys(variant[part] for side in sides for variant in side))
    if len(values) != 2:
        raise UsageError(
            "{}: --by {} compares two, but {} has {}. Name two by giving --{} twice",
            pair[0].path,
            PARTS[part],
            models[0],
            listed(values),
            PARTS[part],
        )
    return [
        {variant: scores for variant, scores in side.items() if variant[part] == value}
        for side, value in zip(sides, values, strict=True)
    ]


def _only(run: ScoreSource, model: str, found: dict[PromptVariant, SideScores]) -> Side:
    variant = _only_variant(run, model, found)
    return Side(run, model, variant, found[variant])


class LabelledSide(NamedTuple):
    """The scores under one protocol of one model of a run, in one prompt variant."""

    run: ScoreSource
    model: str
    variant: PromptVariant
    scores: list[Score]


def only_side(run: ScoreSource, wanted: SideChoice, protocol: Protocol) -> LabelledSide:
    """The side of a run with its only model and prompt variant, or with the wanted ones.

    Raises:
        UsageError: the run does not have the model or variant, or has several that fit.
        DataError: a file of the run is damaged.
    """
    known = list(run.manifest().models)
    model = wanted.named("model", 0) or known[0]
    if model not in known:
        raise UsageError("{}: no model {!r}. Choose from: {}", run.path, model, listed(known))
    if not wanted.named("model", 0) and len(known) != 1:
        raise UsageError(
            "{} has several models. Name one with --model: {}", run.path, listed(known)
        )
    found: dict[PromptVariant, list[Score]] = {}
    for score in run.scores(model):
        if score.protocol == protocol:
            found.setdefault(variant_of(score), []).append(score)
    variant = _only_variant(run, model, _fitting(run, model, wanted.variant(0), found))
    return LabelledSide(run, model, variant, found[variant])


def _fitting(
    run: ScoreSource, model: str, given: tuple[str, str, str], found: dict[PromptVariant, S]
) -> dict[PromptVariant, S]:
    """The scores of the prompt variants with the given parts."""
    kept = {
        variant: scores
        for variant, scores in found.items()
        if all(
            want in ("", part, _HASH.sub("", part))
            for want, part in zip(given, variant, strict=True)
        )
    }
    if not found:
        raise UsageError("{}: {} has no scored answers", run.path, model)
    if not kept:
        asked = both(filter(None, given)) or _("any setting")
        raise UsageError(
            "{}: {} has no answers in {}. Choose from: {}",
            run.path,
            model,
            asked,
            _list_variants(found),
        )
    return kept


def _only_variant(run: ScoreSource, model: str, found: Collection[PromptVariant]) -> PromptVariant:
    if len(found) > 1:
        raise UsageError(
            "{}: {} answered in several prompt variants ({}). Choose one with --setting, "
            "--script and --wording, or name two by giving one of them twice",
            run.path,
            model,
            _list_variants(found),
        )
    return next(iter(found))


def _list_variants(found: Collection[PromptVariant]) -> str:
    """Prompt variants as a list for a message."""
    labels = (variant.label(found).replace(" · ", " ") or variant.setting for variant in found)
    return listed(labels) or _("none")


def _run_names(first: Side, second: Side) -> tuple[str, str]:
    """The runs' labels, or their folder names with as many parents as distinguish them."""
    labels = [side.run.manifest().label for side in (first, second)]
    if labels[0] != labels[1]:
        one, other = (label or side.run.name
                      for label, side in zip(labels, (first, second), strict=True))  # fmt: skip
        if one != other:
            return one, other
    parts = [side.run.path.resolve().parts for side in (first, second)]
    if parts[0] == parts[1]:
        return "", ""
    longest = max(map(len, parts))
    for count in range(1, longest + 1):
        one, other = ("/".join(each[-count:]) for each in parts)
        if one != other:
            return one, other
    return str(first.run.path), str(second.run.path)
