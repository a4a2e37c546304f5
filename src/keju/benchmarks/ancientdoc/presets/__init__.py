"""The formats of AncientDoc: its table, its JSON lines, and its images alone."""

from pathlib import Path

from keju.datasets.readers.presets import preset_reader

_FOLDER = Path(__file__).parent

TABLE = preset_reader(_FOLDER / "ancientdoc.toml")
LINES = preset_reader(_FOLDER / "ancientdoc-lines.toml")
IMAGES = preset_reader(_FOLDER / "ancientdoc-images.toml")
