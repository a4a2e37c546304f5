"""AncientDoc (page OCR, translation, three kinds of questions)."""

from pathlib import Path

from keju.texts import add_translations

POSITION = 2

PROVIDES: dict[str, dict[str, str]] = {
    "readers": {
        "ancientdoc": "keju.benchmarks.ancientdoc.presets:TABLE",
        "ancientdoc-lines": "keju.benchmarks.ancientdoc.presets:LINES",
        "ancientdoc-images": "keju.benchmarks.ancientdoc.presets:IMAGES",
    },
    "metrics": {"ancientdoc": "keju.benchmarks.ancientdoc.metrics"},
}

add_translations(Path(__file__).with_name("ancientdoc.mo"))
