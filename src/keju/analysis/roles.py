"""`model_role`: the role of a model in reports."""

from __future__ import annotations

from keju.models import RESULTS, role_of
from keju.runs import RunManifest


def model_role(manifest: RunManifest | None, model: str) -> str:
    """The role of a model, also where the plug-in that declares its kind is not installed.

    Args:
        manifest: of the run, which records the roles of plug-ins' models; None for responses
            without a run.
        model: the model string in the run.
    """
    if manifest and manifest.models.get(model, {}).get("kind") == RESULTS:
        return "engine"
    stored = manifest.roles.get(model) if manifest else None
    return stored or role_of(model) or "model"
