"""Inspect with keju: its providers as models, its logs, and keju's benchmarks as its tasks."""

from pathlib import Path

from keju.texts import add_translations

add_translations(Path(__file__).with_name("keju-inspect.mo"))
