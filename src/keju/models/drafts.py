"""Items that a model drafted itself, on which its score is biased in its favour."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.items import Item
from keju.models.registry import role_of

_DRAFT = "draft"
"""The step that records the author of a draft in an item's provenance."""

_SHOWN_OTHERWISE = ("blind", "shuffled")
_VERSION = re.compile(r"[\s,;@(]")
"""The separators between a tool's name and its version."""


def drafted_by(item: Item, model: str) -> bool:
    """Whether the model, or one that is part of it, proposed the item or the text of the item.

    A tool counts as a model by name, whatever its version: another version of an engine makes
    similar errors. An endpoint's model is the same in every harness.

    Args:
        item: with its provenance, where a step ``draft`` names the tool.
        model: its model string in a run, e.g. ``ppocr`` or ``ocr+llm:ppocr+openai:MODEL``.
    """
    tools = [each.tool for each in item.provenance if each.step == _DRAFT and each.tool.strip()]
    return bool(tools) and not set(_parties(model)).isdisjoint(
        party for tool in tools for party in _parties(tool)
    )


def _parties(spec: str) -> Iterator[str]:
    """The engines and models in a model string, each by its name without the harness."""
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
