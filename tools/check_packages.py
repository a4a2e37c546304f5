"""Install the wheels in fresh environments, one for each extra, and run a command that needs it.

python -m tools.check_packages [--python PROGRAM ...] [--extra NAME ...] [--wheels FOLDER]

Each environment gets keju from its wheel, then the extra by the command that keju prints where it
is missing; the package index need not know keju. Commands run without a network where Linux permits
it, and find no program outside the environment: no make, git or compiler. The table is written for
docs/installing.md. Needs the wheels (``make dist``) and a package index.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CHECKS = ROOT / "tools" / "package_checks.toml"
BESIDE = {
    "keju-inspect": "pip install keju-inspect",
    "keju-synthetic": "pip install ./packages/keju-synthetic",
}
"""The packages beside keju, with the command that keju prints where one is missing."""
_HEAD = """\
| Python | extra | packages | MB on disk | seconds to install | seconds of the command | result |
|---|---|---|---|---|---|---|
"""


class Check(NamedTuple):
    """An extra (empty for none), the commands that need it, and the exit status of the last one."""

    extra: str
    commands: tuple[str, ...]
    status: int = 0


class CheckError(Exception):
    """A step of a check did not end as it should; the text is the reason."""


class Environment:
    """A fresh virtual environment and an empty home, in which commands run.

    Args:
        python: the program that makes it.
        folder: an empty folder.
    """

    def __init__(self, python: str, folder: Path) -> None:
        self.folder = folder / "env"
        self.work = folder / "work"
        self.work.mkdir()
        self._run([python, "-m", "venv", str(self.folder)])
        self.python = str(self.folder / "bin" / "python")

    def install(self, *wanted: str) -> float:
        """Install requirements with pip; returns the seconds."""
        started = time.perf_counter()
        self._run([self.python, "-m", "pip", "install", "--quiet", *wanted])
        return time.perf_counter() - started

    def keju(self, command: str) -> tuple[int, str, float]:
        """Run a command of keju; returns its exit status, what it prints, and the seconds."""
        _, *words = shlex.split(command)
        started = time.perf_counter()
        done = subprocess.run(  # noqa: S603 - the commands of package_checks.toml
            [*_namespace(), str(self.folder / "bin" / "keju"), *words],
            cwd=self.work, env=self._variables(), check=False, capture_output=True, text=True,
            encoding="utf-8",
        )  # fmt: skip
        printed = " ".join((done.stdout + done.stderr).split())
        return done.returncode, printed, time.perf_counter() - started

    def packages(self) -> int:
        """The number of installed packages, without pip and setuptools."""
        names = [each.name for each in self.folder.glob("lib/python*/site-packages/*.dist-info")]
        return sum(not name.startswith(("pip-", "setuptools-")) for name in names)

    def megabytes(self) -> float:
        """The size of the environment on disk, in MB of 1,000,000 bytes."""
        files = (each.lstat() for each in self.folder.rglob("*"))
        return sum(each.st_blocks for each in files) * 512 / 1e6

    def _variables(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        store = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "x",
                 "AWS_SECRET_ACCESS_KEY": "x"}  # fmt: skip
        path = str(self.folder / "bin")
        return kept | store | {"PATH": path, "HOME": str(self.work), "COLUMNS": "400"}

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(  # noqa: S603 - pip and venv
            command, cwd=self.work, check=False, capture_output=True, text=True
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [""]
            raise CheckError(f"{' '.join(command[1:4])}: {lines[-1]}")


def row(check: Check, python: str, wheels: Path) -> str:
    """The row of the table for a check on one Python."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(python, Path(folder))
        try:
            seconds, spent = _try(check, environment, wheels)
            result = "passed"
        except CheckError as failure:
            seconds, spent, result = 0.0, 0.0, f"FAILED: {failure}"
        cells = (
            _version(python), check.extra or "none", environment.packages(),
            f"{environment.megabytes():,.0f}", f"{seconds:.0f}", f"{spent:.0f}", result,
        )  # fmt: skip
        return f"| {' | '.join(map(str, cells))} |\n"


def _try(check: Check, environment: Environment, wheels: Path) -> tuple[float, float]:
    """Check one extra; returns the seconds of all installations, and of the commands."""
    wanted = hint = f"keju[{check.extra}]"
    if check.extra in BESIDE:
        wanted = _wheel(wheels, f"{check.extra.replace('-', '_')}-")
        hint = BESIDE[check.extra]
    seconds = environment.install(_wheel(wheels, "keju-"))
    spent = 0.0
    if check.extra:
        if any(" run" in each for each in check.commands):
            environment.keju("keju run mini --model baseline:copy --task T1 --task T6 --out run")
        printed = [environment.keju(each)[1] for each in check.commands][-1]
        if hint not in printed:
            raise CheckError(f"without the extra, its installation is not named: {printed[-200:]}")
        seconds += environment.install(wanted)
    for number, command in enumerate(("keju --version", *check.commands)):
        status, printed, took = environment.keju(command)
        last = number == len(check.commands)
        if status != (check.status if last else 0) or (check.extra and hint in printed):
            raise CheckError(f"{command} (exit status {status}): {printed[-200:]}")
        spent += took
    return seconds, spent


def _wheel(folder: Path, begins: str) -> str:
    (found,) = folder.glob(f"{begins}*.whl")
    return str(found.resolve())


def _namespace() -> tuple[str, ...]:
    """The words before a command that take the network from it; none where that is refused."""
    unshare, ip, shell = (shutil.which(each) for each in ("unshare", "ip", "sh"))
    if not unshare or not ip or not shell:
        return ()
    up = f'{ip} link set lo up; exec "$@"'
    words = (unshare, "--map-root-user", "--net", shell, "-c", up, "sh")
    tried = subprocess.run([*words, shell, "-c", ":"], capture_output=True, check=False)  # noqa: S603
    return () if tried.returncode else words


def _version(python: str) -> str:
    command = [python, "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


def main() -> int:
    """Run the checks of the command line; the exit status is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--python", action="append", help="a Python program (default: this one)")
    parser.add_argument("--extra", action="append", help="only this extra; none for no extra")
    parser.add_argument("--wheels", type=Path, default=Path("dist"), help="their folder")
    given = parser.parse_args()
    checks = [Check(**each) for each in tomllib.loads(CHECKS.read_text("utf-8"))["check"]]
    wanted = [each for each in checks if not given.extra or (each.extra or "none") in given.extra]
    sys.stdout.write(_HEAD)
    failed = False
    for python in given.python or [sys.executable]:
        for check in wanted:
            line = row(check, python, given.wheels)
            failed |= "FAILED" in line
            sys.stdout.write(line)
            sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
