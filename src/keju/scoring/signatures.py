"""The signature of a number: metric, protocol, preparation of the texts, encoder and version."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from keju import __version__
from keju.definitions.wordings import RELEASED
from keju.extraction import READER
from keju.items import AnswerForm, Protocol
from keju.scoring.decisions import DECIDED_FORMS, Decisions
from keju.scoring.metric import Metric
from keju.text import normalisation_signature

_AS_IT_IS = frozenset(
    {"one letter", "first-yes-no", "yes-no", "one-number", "one-probability", "boxes", "raw"}
)
"""Preparations that take the answer out and change nothing in it."""

_BY = "by:"


def origin_of(signature: str) -> str:
    """The plug-in that declares the metric of a signature; empty for metrics of keju."""
    parts = (part for part in signature.split("|") if part.startswith(_BY))
    return next(parts, "").removeprefix(_BY)


@lru_cache(maxsize=1024)
def metric_signature(metric: Metric, encoder: str = "") -> str:
    """The signature of a metric's values; `encoder` is that of its encoder."""
    protocol = "as-printed" if metric.protocol == "printed" else metric.protocol
    parts = [metric.name, protocol, f"text:{_preparation(metric)}"]
    if encoder:
        parts.append(f"encoder:{encoder}")
    if metric.origin:
        parts.append(_BY + metric.origin)
    return "|".join([*parts, f"keju:{__version__}"])


def wording_part(wording: str) -> str:
    """The part of a signature for a prompt wording; empty for the released one."""
    return "" if wording == RELEASED else f"|wording:{wording}"


def reading_part(protocol: Protocol, form: AnswerForm, decisions: Decisions) -> str:
    """The part of a signature for how answers are read; empty where they are not.

    It names the version of the rules, and who decided unclear answers.
    """
    if protocol != "strict" and (protocol != "printed" or form not in DECIDED_FORMS):
        return ""
    decided = decisions.signature if form in DECIDED_FORMS else ""
    return f"|{READER}|{decided}" if decided else f"|{READER}"


def reading_of(signature: str) -> str:
    """How the answers of a score were read: the parts ``reader:`` and ``unclear:``, or ""."""
    parts = signature.split("|")
    return "|".join(part for part in parts if part.startswith(("reader:", "unclear:")))


def _preparation(metric: Metric) -> str:
    text = metric.prepare.name
    if text in _AS_IT_IS:
        return text
    if metric.protocol == "strict":
        return f"{text}+{normalisation_signature('script')}"
    steps = text.replace("convert", f"convert(response,zhconv-{_version('zhconv')}-zh-cn)")
    return steps.replace("jieba", f"jieba-{_version('jieba')}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
