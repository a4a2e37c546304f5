"""Which items a model drafted itself: it is graded on its own proposal there, which favours it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.items import Item
from keju.models.opening import role_of

_DRAFT = "draft"
"""The step that leaves a proposal's maker in an item's provenance."""

_SHOWN_OTHERWISE = ("blind", "shuffled")
_VERSION = re.compile(r"[\s,;@(]")
"""What stands between a tool's name and its version."""


def drafted_by(item: Item, model: str) -> bool:
    """Whether the model, or one that is part of it, proposed the item or the text it rests on.

    A tool is taken for a model by name, whatever its version: a later one of an engine errs much
    like the one that drafted. An endpoint's model is the same by whichever harness it was asked.

    Args:
        item: with its provenance, where a step ``draft`` names the tool.
        model: as it is spelled for a run, e.g. ``ppocr`` or ``ocr+llm:ppocr+openai:MODEL``.
    """
    tools = [each.tool for each in item.provenance if each.step == _DRAFT and each.tool.strip()]
    return bool(tools) and not set(_parties(model)).isdisjoint(
        party for tool in tools for party in _parties(tool)
    )


def _parties(spec: str) -> Iterator[str]:
    """The engines and models of a spelling, each by the name that is the same everywhere."""
    spec = spec.strip()
    kind, _, rest = spec.partition(":")
    if kind == "ocr+llm":
        engine, _, model = rest.partition("+")
        yield from _parties(engine)
        yield from _parties(model)
    elif kind in _SHOWN_OTHERWISE:
        yield from _parties(rest)
    else:
        name = _VERSION.split(spec, maxsplit=1)[0] if role_of(_plain(kind)) != "answers" else spec
        kind, _, rest = name.casefold().partition(":")
        if kind == "inspect":
            rest = rest.partition("/")[2]
        yield f"model:{rest}" if kind in {"openai", "inspect"} else name.casefold()


def _plain(kind: str) -> str:
    """A kind without the version that may follow it."""
    return _VERSION.split(kind, maxsplit=1)[0]
