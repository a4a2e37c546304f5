"""Synthetic images with exact references: pages, bones, calligraphy, paintings, seals, relics."""

from pathlib import Path

from keju.messages import register
from keju_synthetic.synth import BuildReport, Making, build_synth

__all__ = ["BuildReport", "Making", "build_synth"]

register("synthetic", Path(__file__).parent / "messages")
