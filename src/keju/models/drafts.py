"""`drafted_by`: whether a model drafted an item itself, which biases its score in its favour."""

from __future__ import annotations

import re

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
    tools = [step.tool for step in item.provenance if step.step == "draft" and step.tool.strip()]
    return any(not _names_in(model).isdisjoint(_names_in(tool)) for tool in tools)


def _names_in(spec: str) -> set[str]:
    """The name of each engine and model in a model string, without the harness."""
    spec = spec.strip()
    if parts := parts_of(spec):
        return set().union(*map(_names_in, parts))
    if role_of(_VERSION.split(spec.partition(":")[0])[0]) != "answers":
        spec = _VERSION.split(spec, maxsplit=1)[0]
    kind, __, rest = spec.casefold().partition(":")
    if kind == "inspect":
        rest = rest.partition("/")[2]
    return {f"model:{rest}" if kind in {"openai", "inspect"} else spec.casefold()}
