"""The format ``mcs-bench``: tables of questions, whose mapping is drafted by ``preset.toml``."""

from pathlib import Path

from keju.datasets.readers.presets import preset_reader

READER = preset_reader(Path(__file__).with_name("preset.toml"))
