"""``python -m keju`` is the same as ``keju``."""

from keju.cli import main

if __name__ == "__main__":
    main()
