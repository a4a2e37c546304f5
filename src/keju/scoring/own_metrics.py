"""`metric`: the decorator by which plug-ins and notebooks declare a metric of their own."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Any, TypeVar, get_args

from keju.errors import error_text
from keju.items import AnswerForm, Protocol
from keju.registry import (
    PLUGIN_FILES,
    Plugin,
    PluginError,
    list_broken,
    list_claims,
    register,
)
from keju.scoring.metric import GROUP, MEAN, Key, Metric, Pooling, keju_metrics, range_text
from keju.scoring.preparations import Preparation, preparations
from keju.texts import _

F = TypeVar("F", bound=Callable[..., Any])

_POOLED = Pooling(_("sum of the numerators / sum of the denominators over the items"))
_HAVE_LENGTH: frozenset[AnswerForm] = frozenset(
    {"transcription", "text", "punctuated", "entities", "boxes"}
)
"""Forms of which an answer, empty or not, has a length, so that rates can be pooled."""

_LONGEST_NAME = 40


def metric(  # noqa: PLR0913 - the fields of a declaration, by keyword
    *,
    name: str,
    form: AnswerForm,
    rule: str,
    protocol: Protocol = "strict",
    benchmark: str = "",
    prepare: str = "",
    higher_is_better: bool = True,
    lowest: float | None = 0.0,
    highest: float | None = 1.0,
    worst: float | None = None,
    pooled: bool = False,
    source: str = "",
    rule_zh: str = "",
) -> Callable[[F], F]:
    """Declare a metric: a decorator of a pure function ``(reference, answer) -> float``.

    The metric is computed for every task of its answer form, after the task's own metrics. An
    exception of the function leaves an item unscored, with the exception as the reason; a value
    that is not a finite number between `lowest` and `highest` is an error. Where no answer could be
    extracted, or it is empty, the value is `worst` and the function is not called.

    Args:
        name: the name in tables and signatures.
        form: the form of answer. It decides what the function gets (`docs/metrics.md`): two texts
            (transcription, text, punctuated, short), letters (letter), ``Yes`` or ``No`` (yes-no),
            floats (number), sets of names (entities), lists of boxes in pixels (boxes), or the
            numbers of the right candidates and a value for each candidate (probability).
        rule: one sentence that says what the metric counts.
        protocol: ``strict`` passes the extracted answer, ``official`` the response as returned.
        benchmark: the benchmark that it is computed for; empty for all of them.
        prepare: how both texts are prepared: ``counted``, ``script`` or ``raw``. Without it, what
            the form's own metrics use.
        higher_is_better: whether a higher value is better; errors are not averaged with scores.
        lowest: the least value that is possible; None if there is none.
        highest: the greatest value that is possible; None if there is none.
        worst: the value of a failed response. Without it, the bad end of the range.
        pooled: whether the function returns ``(numerator, denominator)``, which a task sums over
            its items before dividing. It must also return them for an empty answer.
        source: where the definition is from.
        rule_zh: the rule in Chinese, for reports in that language.

    Raises:
        ValueError: a field has no meaning; the message names it.
        PluginError: a metric of that name, form and protocol exists.
    """
    prepared = _preparation(form, protocol, prepare)
    _check_name(name, rule)
    if pooled and form not in _HAVE_LENGTH:
        raise ValueError(f"pooled is for the forms {', '.join(sorted(_HAVE_LENGTH))}, not {form}")
    bad = worst if worst is not None else lowest if higher_is_better else highest
    if bad is None or not math.isfinite(bad):
        raise ValueError("worst is missing: the bad end of the range is open. Give worst=…")
    if (lowest is not None and bad < lowest) or (highest is not None and bad > highest):
        raise ValueError(f"worst is {bad:g}, which is not {range_text(lowest, highest)}")

    def decorate(function: F) -> F:
        own = Metric(
            name=name, form=form, protocol=protocol, benchmark=benchmark, prepare=prepared,
            function=function, rule=rule, rule_zh=rule_zh, over=_POOLED if pooled else MEAN,
            worst=bad, lowest=lowest, highest=highest, higher_is_better=higher_is_better,
            of_pairs=form == "probability", source=source,
        )  # fmt: skip
        _check_namesakes(own, keju_metrics().values())
        place = "/".join(filter(None, (protocol, benchmark, form, name)))
        _collected.cache_clear()
        return register(GROUP, place, own, function)

    return decorate


def own_metrics() -> Mapping[Key, Metric]:
    """The metrics of all plug-ins; one that cannot be imported is skipped.

    Raises:
        PluginError: two plug-ins declare the same metric.
    """
    return _collected(os.environ.get(PLUGIN_FILES, ""))


def broken_plugins() -> list[str]:
    """Why plug-ins that declare metrics cannot be used."""
    return [error_text(error) for error in list_broken().values()]


@lru_cache(maxsize=1)
def _collected(_files: str) -> Mapping[Key, Metric]:
    found: dict[Key, Metric] = {}
    for declared, plugin in list_claims(GROUP).values():
        own = replace(declared, origin=_origin(declared, plugin))
        _check_namesakes(own, found.values())
        found[own.key] = own
    return MappingProxyType(found)


def _origin(own: Metric, plugin: Plugin) -> str:
    """The plug-in with its version or hash.

    A file has the same origin whether it is named with ``--plugin`` or imported; what has no file,
    as a cell of a notebook, has the hash of the function's source.
    """
    if plugin.version or plugin.sha256:
        return str(plugin)
    try:
        source = inspect.getsource(own.function)
    except (OSError, TypeError):
        code = own.function.__code__
        source = repr((code.co_code, code.co_consts, code.co_names))
    return f"{own.function.__module__} (sha256 {sha256(source.encode()).hexdigest()[:12]})"


def _check_namesakes(own: Metric, others: Iterable[Metric]) -> None:
    for other in others:
        same = (own.protocol, own.form, own.name) == (other.protocol, other.form, other.name)
        if same and (own.benchmark == other.benchmark or not (own.benchmark and other.benchmark)):
            raise PluginError(
                "the metric {}{} ({}, {}) has the same name as {}. Give it another name",
                own.name,
                _(" of {}", own.origin) if own.origin else "",
                own.protocol,
                own.form,
                f"one of {other.origin}" if other.origin else f"a metric of keju ({other.rule})",
            )


def _preparation(form: AnswerForm, protocol: Protocol, prepare: str) -> Preparation:
    if form not in get_args(AnswerForm):
        raise ValueError(f"form is {form!r}. Use one of {', '.join(get_args(AnswerForm))}")
    if protocol not in ("official", "strict"):
        raise ValueError(f"protocol is {protocol!r}. Use official or strict")
    by_name = preparations(protocol, form)
    if prepare and prepare not in by_name:
        raise ValueError(
            f"prepare is {prepare!r}. For {form} under {protocol} use {' or '.join(by_name)}"
        )
    return by_name[prepare or next(iter(by_name))]


def _check_name(name: str, rule: str) -> None:
    fine = name.isprintable() and not set(name) & set("|/\\") and name.strip() == name
    if not name or not fine or len(name) > _LONGEST_NAME:
        raise ValueError(
            f"name is {name!r}. Use up to {_LONGEST_NAME} printable characters without | / and \\"
        )
    if not rule.strip():
        raise ValueError("rule is empty. Say in one sentence what the metric counts")
