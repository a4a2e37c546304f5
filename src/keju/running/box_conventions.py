"""Box conventions by model (``--boxes [MODEL=]CONVENTION``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from keju.errors import UsageError
from keju.metrics.boxes import box_convention
from keju.texts import _

OF_MODEL = "boxes of "
"""Prefix of the keys of a run's settings that record the convention of one model."""


def parse_boxes(values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Parse ``--boxes``: the convention for all models, and those of single models.

    Args:
        values: each a convention such as ``xyxy``, or ``MODEL=yxyx-1000``.

    Returns:
        The convention for all, empty for the benchmark's own; and conventions by model.

    Raises:
        UsageError: a convention does not exist, or a model or the convention for all is given
            twice.
    """
    for_all: list[str] = []
    of_model: dict[str, str] = {}
    for value in values:
        model, parted, convention = value.rpartition("=")
        box_convention(convention)
        if not parted:
            for_all.append(convention)
        elif model in of_model:
            raise UsageError("--boxes names {} twice. Give one convention per model", model)
        else:
            of_model[model] = convention
    if len(for_all) > 1:
        raise UsageError(
            "--boxes is given twice without a model: {}. To set it for one model, use --boxes "
            "MODEL=CONVENTION",
            ", ".join(for_all),
        )
    return (for_all[0] if for_all else ""), of_model


def check_models(of_model: Mapping[str, str], models: Collection[str]) -> None:
    """Check that conventions are given only for models of the run.

    Raises:
        UsageError: a name is not among the models.
    """
    if strange := [name for name in of_model if name not in models]:
        raise UsageError(
            "--boxes names {!r}, which is not a model of this run. Models: {}",
            strange[0],
            ", ".join(models),
        )


def convention_in(settings: Mapping[str, str], model: str) -> str:
    """The convention in which a run's settings ask a model; empty for the benchmark's own."""
    return settings.get(OF_MODEL + model) or settings.get("boxes", "")


def changed_conventions(
    before: Mapping[str, str], now: Mapping[str, str], models: Collection[str]
) -> list[str]:
    """The models whose convention differs between two runs' settings, each with both."""
    found = ((name, convention_in(before, name), convention_in(now, name)) for name in models)
    return [
        _("{} ({}, now {})", _("{} of {}", "--boxes", name), was or _("none"), has or _("none"))
        for name, was, has in found
        if was != has
    ]
