"""An example of a plug-in for keju; each module declares one thing."""

from pathlib import Path

from keju.plugins import add_translations

add_translations(Path(__file__).with_name("keju-example.mo"))
