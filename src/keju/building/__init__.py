"""Making a benchmark."""

from keju.building.synth import BuildReport, Making, build_synth

__all__ = ["BuildReport", "Making", "build_synth"]
