"""`describe_recorded_plugin`: the plug-in that provided a step or a source in an earlier build."""

from __future__ import annotations

from pathlib import Path

from keju.building.running import RECORD, StepRecord
from keju.building.steps import STEPS
from keju.errors import DataError
from keju.files import read_json


def describe_recorded_plugin(out: Path, name: str) -> str:
    """Describe the plug-ins that provided a step or a source; empty if none is recorded.

    Args:
        out: the build directory, which need not exist.
        name: of the step or the source.
    """
    for file in sorted(out.glob(f"*/*/{RECORD}")):
        try:
            record = read_json(file, StepRecord)
        except DataError:
            continue  # A damaged record is reported when its step runs.
        if STEPS.get_current_name(record.step) == STEPS.get_current_name(name) and record.plugins:
            plugins = " and ".join(map(str, record.plugins))
            how = "Load it with --plugin FILE.py" if record.plugins[0].sha256 else "Install it"
            return f"An earlier build in {out} used the plug-in {plugins}. {how}"
    return ""
