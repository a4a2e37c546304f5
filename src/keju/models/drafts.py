"""`drafted_by`: whether a model drafted an item itself, which biases its score in its favour."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.items import Item
from keju.models.registry import parts_of, role_of

_VERSION = re.compile(r"[\s,;@(]")
"""The separators between a tool's name and its version."""


def drafted_by(item: Item, model: str) -> bool:
    """Whether the model, or a part of it, wrote the draft of the item or of its text.

    A tool and a model are the same if their names are, in any version, because another version of
    an engine makes similar errors. A model of an endpoint is the same in every harness.

    Args:
        item: the item. A step ``draft`` in its provenance names the tool.
        model: the model string of a run, e.g. ``ppocr`` or ``ocr+llm:ppocr+openai:MODEL``.
    """
    steps = [step for step in item.provenance if step.step == "draft" and step.tool.strip()]
    return bool(steps) and not set(_names_in(model)).isdisjoint(
        name for step in steps for name in _names_in(step.tool)
    )


def _names_in(spec: str) -> Iterator[str]:
    """Yield the name of each engine and model in a model string, without the harness."""
    spec = spec.strip()
    if parts := parts_of(spec):
        for part in parts:
            yield from _names_in(part)
        return
    kind = spec.partition(":")[0]
    unversioned = _VERSION.split(kind, maxsplit=1)[0]
    if role_of(unversioned) != "answers":
        spec = _VERSION.split(spec, maxsplit=1)[0]
    kind, _, rest = spec.casefold().partition(":")
    if kind == "inspect":
        rest = rest.partition("/")[2]
    yield f"model:{rest}" if kind in {"openai", "inspect"} else spec.casefold()
