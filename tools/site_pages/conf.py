"""Sphinx's settings for the site of keju."""

import os
import sys
from pathlib import Path
from typing import Any

import keju

project = "keju"
author = "The keju maintainers"
project_copyright = author
version = release = keju.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "myst-nb"}
root_doc = "index"
language = "en"
default_role = "code"  # docstrings write code between single backquotes
highlight_language = "none"
pygments_style, pygments_dark_style = "friendly", "monokai"

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
"""Notebooks call the `keju` of this environment."""
os.environ["TTY_COMPATIBLE"] = "0"  # Jupyter asks programs for colours and bars otherwise

myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True
nb_ipywidgets_js: dict[str, Any] = {}  # the default is on other hosts

maximum_signature_line_length = 90
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
# Fields of a named tuple are members too; described a second time they would be duplicates.
napoleon_use_ivar = True

html_theme = "furo"
html_title = "keju 科舉"
html_static_path = ["static"]
html_css_files = ["keju.css"]
html_show_sourcelink = False
html_copy_source = False
html_search_language = "en"  # Chinese texts are found too; Sphinx 9.0's "zh" fails in browsers
html_show_search_summary = False  # it fetches pages, which browsers refuse for files on disk
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}


def _mark_language(*event: Any) -> None:  # noqa: ANN401
    _, name, _, context, _ = event
    if name.endswith(".zh"):
        context["language"] = "zh-Hans"


def _readable(*event: Any) -> tuple[str | None, str | None]:  # noqa: ANN401
    """A signature that Sphinx can parse: a default that is made for each call is shown as `...`."""
    signature, result = event[-2:]
    return signature and signature.replace("<factory>", "..."), result


def setup(app: Any) -> None:  # noqa: ANN401
    """Mark Chinese pages, so that browsers choose the glyphs of simplified characters."""
    app.connect("html-page-context", _mark_language)
    app.connect("autodoc-process-signature", _readable)
