"""What loading weights with transformers needs, whatever the weights are of."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal


def best_device(torch: Any) -> Literal["cpu", "cuda"]:  # noqa: ANN401 - a module
    """CUDA where there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def weights_lacking(report: dict[str, Any]) -> list[str]:
    """The weights that transformers' loading report says are missing or of another shape."""
    mismatched = (entry[0] for entry in report.get("mismatched_keys") or ())
    return sorted(map(str, [*(report.get("missing_keys") or ()), *mismatched]))


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' warnings and progress bars off the terminal."""
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
