"""Telemetry of third-party libraries, disabled before any of them is imported.

`disable` runs when keju is imported, so it covers every process that imports keju: commands,
notebooks, Inspect, workers of Daft and Ray. Libraries read these variables once, at their own
import or start. Values that the environment already has are replaced.
"""

from __future__ import annotations

import os

DISABLED = {
    # onnxruntime 1.31: no uploader, no events, no device identifier, no $TMPDIR/.ses (Privacy.md).
    # Its disable_telemetry_events() comes too late: the first events exist by then.
    "ORT_DISABLE_TELEMETRY": "1",
    "DAFT_ANALYTICS_ENABLED": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Read by several more, among them the analytics that Daft shares with other packages.
    "SCARF_NO_ANALYTICS": "true",
    "DO_NOT_TRACK": "1",
}
"""Environment variables by which libraries disable their telemetry, with the value that does."""


def disable() -> None:
    """Disable the telemetry of every library that this process or its children import later."""
    os.environ.update(DISABLED)
