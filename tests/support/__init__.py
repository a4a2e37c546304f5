"""What several tests share: makers of datasets and images, servers, generators of damage.

Import it as ``from tests.support.making import picture``; the root of the checkout must be on the
path of Python, where pytest puts it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The root of the checkout, in which `module_command` must be run."""


def module_command(name: str) -> list[str]:
    """The command that runs a module of this package in a process of its own, from `ROOT`."""
    return [sys.executable, "-m", f"tests.support.{name}"]
