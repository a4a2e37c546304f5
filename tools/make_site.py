"""Build the documentation site: ``make docs``, or ``python -m tools.make_site OUT``.

The pages are README.md and docs/ in both languages, grouped by docs/site.toml, and a reference of
the commands and of the Python interface made from the code. The notebooks of docs/notebooks are
executed. A warning of Sphinx, a dead link and an error in a notebook fail the build.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from tools.site_pages import commands, indexes, names, pages

SETTINGS = Path(__file__).parent / "site_pages"


def build(out: Path) -> int:
    """Write the source of the site to OUT/source and the site to OUT/html; 0 is success."""
    source = out / "source"
    shutil.rmtree(out, ignore_errors=True)
    source.mkdir(parents=True)
    pages.copy_pages(source)
    (source / "commands.md").write_text(commands.page(), "utf-8")
    (source / "python.md").write_text(names.page(), "utf-8")
    indexes.complete(source)
    return sphinx(
        [
            "-W",
            "--keep-going",
            "-q",
            "-b",
            "html",
            "-c",
            str(SETTINGS),
            str(source),
            str(out / "html"),
        ]
    )


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else "build/site")))
