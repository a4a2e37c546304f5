"""The build steps of keju that draw: `typeset` and `fragment`."""

from pathlib import Path

from keju.messages import register

register("synthetic", Path(__file__).parent / "messages")
