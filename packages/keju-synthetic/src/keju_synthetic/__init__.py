"""The build steps of keju that draw: `typeset` and `fragment`."""

from pathlib import Path

from keju.texts import add_translations

add_translations(Path(__file__).with_name("keju-synthetic.mo"))
