"""Declarations that a model of a run is, in the same version, one of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from keju.analysis.run_set import ModelResponses, RunSet
from keju.errors import UsageError, did_you_mean, nearest_names
from keju.published import published_model, published_models
from keju.texts import listed

_SHOWN = "image"
"""The setting of the papers' main tables."""


class SameAs(NamedTuple):
    """A model of the run, as the run or the report names it, and the paper's name of it."""

    model: str
    printed: str


def read_same_as(lines: Iterable[str]) -> tuple[SameAs, ...]:
    """Read declarations of the form ``MODEL=PRINTED``.

    Raises:
        UsageError: one has no ``=``, or no paper has a model of that name.
    """
    known = {
        name
        for each in published_models()
        if each.role != "judge"
        for name in (each.name, each.also_printed_as)
        if name
    }
    found = []
    for line in lines:
        model, equals, printed = line.rpartition("=")
        if not equals or not model or not printed:
            raise UsageError(
                "--same-as {!r} is not MODEL=PRINTED. Example: --same-as "
                "openai:qwen2-vl-7b=Qwen2-VL-7B-Instruct",
                line,
            )
        if printed not in known:
            hint = did_you_mean(nearest_names(printed, sorted(known), most=2))
            raise UsageError(
                "--same-as {!r}: no paper has a model {!r} in its tables.{} See all names with: "
                "keju models --published",
                line,
                printed,
                hint,
            )
        found.append(SameAs(model, printed))
    return tuple(found)


def check_same_as(declared: Sequence[SameAs], run_set: RunSet) -> None:
    """Check that every declared model is in the report, and in a paper of its benchmarks.

    Raises:
        UsageError: one is not, with a list of those that are; or one is declared to be two of a
            paper's.
    """
    benchmarks = sorted({asked.item.benchmark for asked in run_set.asked})
    names = {
        name
        for label, model_responses in run_set.by_model.items()
        for name in _names(label, model_responses)
    }
    for each in declared:
        if each.model not in names:
            raise UsageError(
                "--same-as {0}={1}: no model {0!r} in these runs. Choose from: {2}",
                each.model,
                each.printed,
                listed(sorted(names)),
            )
        if not any(published_model(benchmark, each.printed) for benchmark in benchmarks):
            raise UsageError(
                "--same-as {0}={1}: the papers of these runs' benchmarks ({2}) have no model "
                "{1!r} in their tables. See all names with: keju models --published",
                each.model,
                each.printed,
                listed(benchmarks),
            )
    _check_alone(declared, benchmarks)


def _check_alone(declared: Sequence[SameAs], benchmarks: Sequence[str]) -> None:
    """Check that a model is at most one of a paper's; papers may use different names for it."""
    for benchmark in benchmarks:
        found: dict[str, str] = {}
        for each in declared:
            printed = published_model(benchmark, each.printed)
            if printed and found.setdefault(each.model, printed.name) != printed.name:
                raise UsageError(
                    "--same-as {0}={1}: {0} is already declared to be {2} of {3}. Give one of them",
                    each.model,
                    each.printed,
                    found[each.model],
                    benchmark,
                )


def printed_names(
    declared: Sequence[SameAs], label: str, model_responses: ModelResponses
) -> list[str]:
    """The papers' names of a model of the report; empty without a declaration.

    A declaration by the model's name applies to rows with the setting `image`, as in the papers;
    one by the report's own label applies to that row only.
    """
    return [
        each.printed
        for each in declared
        if each.model == label
        or (each.model == model_responses.model and model_responses.setting == _SHOWN)
    ]


def _names(label: str, model_responses: ModelResponses) -> tuple[str, ...]:
    """A pipeline may be named, or its engine or text model alone (Table 8)."""
    kind, _, rest = model_responses.model.partition(":")
    parts = rest.partition("+")[::2] if kind == "ocr+llm" else ()
    return (label, model_responses.model, *parts)
