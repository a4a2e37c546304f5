"""The steps that the package keju-synthetic provides, for the error where it is not installed."""

from __future__ import annotations

_PACKAGE = (
    "keju-synthetic, the package that draws. Install it in a checkout of keju with: "
    "pip install ./packages/keju-synthetic (or install its wheel)"
)

STEPS = dict.fromkeys(("typeset", "fragment"), _PACKAGE)
