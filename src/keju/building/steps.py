"""The registry of steps for recipes and ``keju build``."""

from __future__ import annotations

from typing import Any

from keju.building import synthetic
from keju.building.step import Step
from keju.registry import Registry

STEPS: Registry[Step[Any]] = Registry(
    "step",
    "steps",
    {
        "subset": "keju.building.subset:STEP",
        "draft": "keju.building.drafting.step:STEP",
        "measure": "keju.building.filtering.step:MEASURE",
        "filter": "keju.building.filtering.step:FILTER",
        "balance": "keju.building.filtering.balancing:STEP",
        "split": "keju.building.releasing.splitting:STEP",
        "release": "keju.building.releasing.release:STEP",
        "standardise": "keju.building.standardising.step:STEP",
        "standardise-texts": "keju.building.standardising.texts:STEP",
        "perturb": "keju.building.perturbing.step:STEP",
        "retrieval-sets": "keju.building.retrieval_sets:STEP",
        "review": "keju.building.reviewing.step:STEP",
        "make-choices": "keju.building.choices.step:STEP",
        "dedup-images": "keju.building.dedup.images:STEP",
        "dedup-texts": "keju.building.dedup.texts:STEP",
    },
    elsewhere=synthetic.STEPS,
)
"""Every kind of step by its name."""
