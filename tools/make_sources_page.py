"""Writes docs/sources.md: the keys of every form of source, from their settings.

python -m tools.make_sources_page
"""

from pathlib import Path

from keju.building.sources.keys import render_sources_page

PAGE = Path(__file__).parents[1] / "docs" / "sources.md"

if __name__ == "__main__":
    PAGE.write_text(render_sources_page(), "utf-8")
