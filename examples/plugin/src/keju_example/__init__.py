"""An example of a plug-in for keju; each module declares one thing when it is imported."""

from pathlib import Path

from keju.plugins import add_translations
from keju_example import exports, metrics, models, readers, responses, sources, steps

__all__ = ["exports", "metrics", "models", "readers", "responses", "sources", "steps"]

add_translations(Path(__file__).with_name("keju-example.mo"))
