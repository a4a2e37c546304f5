"""``python -m keju`` is the same as ``keju``."""

import os
import sys

if __name__ == "__main__":
    # Python puts the current directory first. It may be another person's dataset or run, whose
    # files must not be imported.
    if sys.path and sys.path[0] == os.getcwd():  # noqa: PTH109 - pathlib could be such a file
        del sys.path[0]

    from keju.cli import main

    main()
