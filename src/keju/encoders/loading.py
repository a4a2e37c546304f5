"""Common functions for loading weights with transformers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from keju.errors import DataError


def best_device(torch: Any) -> Literal["cpu", "cuda"]:  # noqa: ANN401 - a module
    """CUDA where available."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def check_whole(report: dict[str, Any], folder: Path, what: str) -> None:
    """Check that no weights are missing or have another shape, by transformers' report.

    Raises:
        DataError: some are.
    """
    mismatched = (entry[0] for entry in report.get("mismatched_keys") or ())
    lacking = sorted(map(str, [*(report.get("missing_keys") or ()), *mismatched]))
    if lacking:
        raise DataError(
            "does not contain {} of the {}'s weights (first: {})",
            len(lacking),
            what,
            lacking[0],
            file=folder,
            hint="Give the folder of the whole model",
        )


@contextmanager
def loading(folder: Path) -> Iterator[None]:
    """Load from a directory without output on the terminal.

    Raises:
        DataError: loading failed; on a bad directory the loaders raise any exception.
    """
    try:
        with quiet():
            yield
    except Exception as error:  # noqa: BLE001
        raise DataError("cannot be loaded: {}", str(error)[:300], file=folder) from None


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress transformers' warnings and progress bars."""
    from transformers.utils import logging as chatter  # noqa: PLC0415

    level, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity(logging.CRITICAL)
    chatter.disable_progress_bar()
    try:
        yield
    finally:
        chatter.set_verbosity(level)
        if bars:
            chatter.enable_progress_bar()
