"""Write the functions of keju that one command calls, imports left out.

    python -m tools.trace OUT.json ARGUMENT...

Comprehensions and lambdas are not counted, nor is what runs while a module is imported.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

import keju

_PACKAGE = str(Path(keju.__file__).parent)
_SKIPPED = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"}


class Tracer:
    """A profile function that collects the file and qualified name of every called function."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self._importing = threading.local()
        self._codes: dict[CodeType, bool] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Record a call outside of the body of a module."""
        code = frame.f_code
        depth = getattr(self._importing, "depth", 0)
        if event == "return" and code.co_name == "<module>":
            self._importing.depth = depth - 1
        if event != "call":
            return
        if code.co_name == "<module>":
            self._importing.depth = depth + 1
        elif depth <= 0 and code.co_name not in _SKIPPED:
            if code not in self._codes:
                self._codes[code] = code.co_filename.startswith(_PACKAGE)
            if self._codes[code]:
                name = code.co_filename.removeprefix(_PACKAGE)
                self.functions.add((name, code.co_qualname))


def main() -> None:
    """Run a command of keju under the tracer."""
    out, *arguments = sys.argv[1:]
    from keju.cli import main as command  # noqa: PLC0415

    tracer = Tracer()
    sys.argv = ["keju", *arguments]
    status: object = 0
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        command()
    except SystemExit as error:
        status = error.code
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    Path(out).write_text(json.dumps(sorted(tracer.functions)), "utf-8")
    sys.exit(1 if status not in (0, None, 1) else 0)


if __name__ == "__main__":
    main()
