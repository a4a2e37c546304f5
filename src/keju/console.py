"""`Console`, which shows texts in the language of the terminal."""

from __future__ import annotations

from typing import Any

import rich.console
from rich.text import Text

from keju.texts import in_terminal


class Console(rich.console.Console):
    """A console whose lines, titles and cells may be texts of `keju.texts`."""

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - as of rich
        """A text with its markup, in the language of the terminal."""
        return super().render_str(in_terminal(text), **options)
