"""Run keju against other programs, print what is equal, and refresh what is recorded of them.

python -m tools.contracts [NAME ...] [--allow-missing]

Each program of tests/contracts/programs.toml is installed into .contracts/NAME/env (once), its
exchange runs in a process of its own, and its records replace tests/contracts/recorded/NAME.
docs/contracts.md is written from all records. The exit status is 1 if something differs, an
exchange breaks, or (without --allow-missing) a program cannot be installed or started.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import SpecifierSet

from tests.support.contracting import (
    NOT_RUN,
    RECORDED,
    ROOT,
    TABLE,
    NotRunError,
    Program,
    Result,
    exchange_command,
    programs,
    recorded_result,
)
from tools.build_packages import PACKAGES, sha256
from tools.make_contracts_page import page

PAGE = ROOT / "docs" / "contracts.md"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_INSTALLED = "installed.json"
_QUIET = ("--quiet", "--disable-pip-version-check")


class Places(NamedTuple):
    """Where the table, the records and the environments are."""

    table: Path
    recorded: Path
    environments: Path


class Outcome(NamedTuple):
    """What became of one program: its result, or why there is none."""

    program: Program
    result: Result | None
    reason: str = ""
    missing: bool = False
    """Whether it was not installed or not started, in contrast to an exchange that broke."""

    @property
    def good(self) -> bool:
        """Whether everything was equal."""
        return self.result is not None and all(each.equal for each in self.result.exchanges)


def environment(program: Program, folder: Path) -> Path:
    """The interpreter with the program installed; an environment of the same packages is kept.

    Raises:
        NotRunError: a requirement is missing, or the packages cannot be installed.
    """
    _check(program)
    if program.project:
        _check_installed(program)
    if program.project or not program.named:
        return Path(sys.executable)
    home = folder / program.name
    if program.npm:
        _install_npm(program, home)
        return Path(sys.executable)
    python = home / "env" / "bin" / "python"
    wheels = [_build_wheel(name, home / "wheels") for name in program.wheels]
    built = [sha256(wheel) for wheel in wheels]
    wanted = json.dumps([program.python, program.shared, program.bare, program.packages, built])
    stamp = home / _INSTALLED
    if stamp.exists() and stamp.read_text("utf-8") == wanted and python.exists():
        return python
    shutil.rmtree(home / "env", ignore_errors=True)
    home.mkdir(parents=True, exist_ok=True)
    base = _interpreter(program)
    shared = _shared(program, base, folder) if program.shared else None
    _install(base, home / "env", program, shared, wheels)
    stamp.write_text(wanted, "utf-8")
    return python


def _check(program: Program) -> None:
    for command in program.commands:
        if shutil.which(command) is None:
            raise NotRunError(f"the program {command} is not on this machine")
    if name := program.checkout:
        if not os.environ.get(name):
            raise NotRunError(f"set {name} to the folder of a checkout")
        if not Path(os.environ[name]).is_dir():
            raise NotRunError(f"{name} is not a folder: {os.environ[name]}")
        _check_commit(program, os.environ[name])


def _check_installed(program: Program) -> None:
    for package in program.packages:
        name, _, wanted = package.partition("==")
        try:
            found = version(name)
        except PackageNotFoundError:
            raise NotRunError(f"{name} is not installed: make install-semantic") from None
        if found != wanted:
            raise NotRunError(f"{name} {found} is installed, not {wanted}: make install-semantic")


def _check_commit(program: Program, folder: str) -> None:
    command = ["git", "-C", folder, "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if not done.stdout.startswith(program.commit):
        found = done.stdout[:8] or "no commit"
        raise NotRunError(f"{program.checkout} has {found}, not {program.commit}")


def _interpreter(program: Program) -> str:
    """A Python of this machine that the program supports."""
    wanted = SpecifierSet(program.python)
    ours = sys.version_info
    if f"{ours.major}.{ours.minor}" in wanted:
        return str(Path(sys.base_prefix) / "bin" / f"python{ours.major}.{ours.minor}")
    for number in PYTHONS:
        found = shutil.which(f"python{number}")
        if found and number in wanted and _works(found):
            return found
    raise NotRunError(f"no Python {program.python} is on this machine")


def _works(python: str) -> bool:
    done = subprocess.run([python, "-V"], capture_output=True, check=False)  # noqa: S603
    return done.returncode == 0


def _shared(program: Program, base: str, folder: Path) -> Path:
    """The site-packages with the program's shared packages, installed on first use."""
    name = "-".join(each.replace("==", "-") for each in program.shared)
    home = folder / "shared" / f"{name}-{Path(base).name}"
    if not (home / _INSTALLED).exists():
        shutil.rmtree(home, ignore_errors=True)
        _checked([base, "-m", "venv", str(home)])
        _checked([str(home / "bin" / "python"), "-m", "pip", "install", *_QUIET, *program.shared])
        (home / _INSTALLED).write_text(name, "utf-8")
    return next((home / "lib").glob("python3*")) / "site-packages"


def _build_wheel(name: str, folder: Path) -> Path:
    """Build the wheel of a package of this repository."""
    out = folder / name
    shutil.rmtree(out, ignore_errors=True)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    _checked([*build, str(out)], cwd=PACKAGES[name])
    (wheel,) = out.glob("*.whl")
    return wheel


def _install(
    base: str, home: Path, program: Program, shared: Path | None, wheels: Sequence[Path]
) -> None:
    """With uv where it is, but not beside shared packages, which uv does not see."""
    python = str(home / "bin" / "python")
    uv = shutil.which("uv") if shared is None else None
    if uv:
        _checked([uv, "venv", "--quiet", "--python", base, str(home)])
        install = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        _checked([base, "-m", "venv", str(home)])
        install = [python, "-m", "pip", "install", *_QUIET]
    if shared is not None:
        site = next((home / "lib").glob("python3*")) / "site-packages"
        (site / "shared.pth").write_text(f"{shared}\n", "utf-8")
    if program.bare:
        _checked([*install, "--no-deps", *program.bare])
    if program.packages:
        _checked([*install, *program.packages, *map(str, wheels)])


def _install_npm(program: Program, home: Path) -> None:
    stamp = home / _INSTALLED
    wanted = json.dumps(program.npm)
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return
    shutil.rmtree(home / "node_modules", ignore_errors=True)
    home.mkdir(parents=True, exist_ok=True)
    names = [each.replace("==", "@") for each in program.npm]
    _checked(["npm", "install", "--silent", "--no-audit", "--no-fund", f"--prefix={home}", *names])
    stamp.write_text(wanted, "utf-8")


def _checked(command: list[str], cwd: Path = ROOT) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line or "error" in line]
        said = " ".join((lines or done.stderr.splitlines())[-1:])
        raise NotRunError(f"not installed: {said[:300]}")


def exchanged(program: Program, places: Places) -> Outcome:
    """Install a program, run its exchange, and take over its records."""
    home = places.environments / program.name
    try:
        python = environment(program, places.environments)
    except NotRunError as error:
        return Outcome(program, None, str(error), missing=True)
    home.mkdir(parents=True, exist_ok=True)
    command = exchange_command(program, python, home / "work", home / "records", places.table)
    path = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
    try:
        done = subprocess.run(  # noqa: S603 - a script of this repository
            command,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=program.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(program, None, f"the exchange took more than {program.seconds} s")
    (home / "exchange.log").write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode:
        words = (done.stderr.splitlines() or ["no words"])[-1][:500]
        return Outcome(program, None, words, missing=done.returncode == NOT_RUN)
    records = places.recorded / program.name
    shutil.rmtree(records, ignore_errors=True)
    shutil.copytree(home / "records", records)
    return Outcome(program, recorded_result(program.name, places.recorded))


def table(outcomes: Sequence[Outcome]) -> str:
    """Program and version, what was exchanged, and whether it was equal; a line each."""
    lines: list[str] = []
    for outcome in outcomes:
        if outcome.result is None:
            state = "not run" if outcome.missing else "the exchange broke"
            lines.append(f"{outcome.program.title}: {state}: {outcome.reason}")
            continue
        lines.append(f"{outcome.program.title} {outcome.result.version}")
        for each in outcome.result.exchanges:
            state = "equal" if each.equal else "DIFFERS"
            lines.append(f"  {state:8} {each.what}: {each.detail}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the programs named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; default: all")
    parser.add_argument("--allow-missing", action="store_true",
                        help="succeed if a program cannot be installed or started")  # fmt: skip
    parser.add_argument("--table", type=Path, default=TABLE, help="the table of programs")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="folder of the records")
    parser.add_argument("--environments", type=Path, default=ROOT / ".contracts",
                        help="folder of the environments")  # fmt: skip
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args(arguments)
    known = programs(chosen.table)
    if unknown := [name for name in chosen.names if name not in known]:
        parser.error(f"no program {', '.join(unknown)}; there are {', '.join(known)}")
    places = Places(chosen.table.resolve(), chosen.recorded, chosen.environments.resolve())
    outcomes: list[Outcome] = []
    for name in chosen.names or known:
        sys.stderr.write(f"{name} …\n")
        outcomes.append(exchanged(known[name], places))
        sys.stdout.write(f"{table(outcomes[-1:])}\n")
        sys.stdout.flush()
    chosen.page.write_text(page(chosen.table, chosen.recorded), "utf-8")
    bad = [each for each in outcomes if not each.good]
    if chosen.allow_missing:
        bad = [each for each in bad if not each.missing]
    sys.stdout.write(f"{len(outcomes) - len(bad)} of {len(outcomes)} programs as expected\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
