"""Contracts with other programs: the table of programs, what an exchange is given, its results.

python -m tests.support.contracting NAME --python PYTHON --work DIR --recorded DIR
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import msgspec
from msgspec import Struct

from tests.support import ROOT, children, module_command

CONTRACTS = ROOT / "tests" / "contracts"
TABLE = CONTRACTS / "programs.toml"
RECORDED = CONTRACTS / "recorded"
RESULT = "result.json"
NOT_RUN = 3
"""The exit status of an exchange whose program did not start; the reason is the last line."""


class Program(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A line of programs.toml; its head explains the fields."""

    name: str
    title: str
    exchange: str
    exchanged: str
    packages: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    python: str = ">=3.11"
    commands: tuple[str, ...] = ()
    checkout: str = ""
    commit: str = ""
    project: bool = False
    seconds: int = 900

    @property
    def pinned(self) -> str:
        """The version of the first package or the commit; empty where neither is named."""
        return self.commit or self.named.partition("==")[2]

    @property
    def named(self) -> str:
        """The package whose version names the program; empty if there is none."""
        return next(iter((*self.bare, *self.packages, *self.npm)), "")


class Exchanged(Struct, frozen=True, kw_only=True):
    """One thing that was exchanged: whether both sides agree, and on what or where not."""

    what: str
    equal: bool
    detail: str


class Result(Struct, frozen=True, kw_only=True):
    """What became of the contract with one program."""

    program: str
    version: str
    exchanges: tuple[Exchanged, ...]


class NotRunError(Exception):
    """The program cannot be installed or started; the message is the reason."""


def programs(table: Path = TABLE) -> dict[str, Program]:
    """The programs of the table, by name."""
    found = msgspec.convert(tomllib.loads(table.read_text("utf-8"))["programs"], list[Program])
    return {each.name: each for each in found}


def recorded_result(name: str, recorded: Path = RECORDED) -> Result | None:
    """The result of the last run; None if there was none."""
    file = recorded / name / RESULT
    return msgspec.json.decode(file.read_bytes(), type=Result) if file.exists() else None


def compared(what: str, ours: object, theirs: object, detail: str = "") -> Exchanged:
    """Whether two values are equal; of mappings, what differs is named by its first keys."""
    if ours == theirs:
        counted = len(ours) if isinstance(ours, dict | list | tuple) else 1
        return Exchanged(what=what, equal=True, detail=detail or f"{counted} of {counted} equal")
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = sorted((k for k in ours | theirs if ours.get(k) != theirs.get(k)), key=str)
        first = keys[0]
        words = (
            f"{len(keys)} of {len(ours | theirs)} differ, first {first}: "
            f"{ours.get(first)!r} and {theirs.get(first)!r}"
        )
    else:
        words = f"{ours!r} and {theirs!r}"
    return Exchanged(what=what, equal=False, detail=words[:400])


@dataclass(frozen=True)
class Contract:
    """What an exchange is given: a program in its environment, and folders to write to."""

    program: Program
    python: Path
    """The interpreter of the program's environment."""
    work: Path
    """An empty folder that is not kept."""
    recorded: Path
    """The folder whose files are kept in the repository."""

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the program: folders of its own, no hub of models, not our paths.

        A program of the project finds keju, which it may load, on our path.
        """
        home = self.work / "home"
        home.mkdir(exist_ok=True)
        homes = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HF_HOME")
        ours = () if self.program.project else ("PYTHON", "KEJU_")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        kept["PATH"] = f"{self.python.parent}{os.pathsep}{kept.get('PATH', '')}"
        off = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "DO_NOT_TRACK")
        return {**kept, **dict.fromkeys(homes, str(home)), **dict.fromkeys(off, "1")}

    @property
    def commands(self) -> Path:
        """The folder of the commands of npm packages."""
        return self.work.parent / "node_modules" / ".bin"

    @property
    def checkout(self) -> Path:
        """The folder of a program that is used from a checkout."""
        return Path(os.environ[self.program.checkout])

    def version(self, distribution: str = "") -> str:
        """The version of an installed distribution; without a name, of the first package."""
        name = distribution or self.program.named.partition("==")[0].partition("[")[0]
        words = f"import importlib.metadata as m; print(m.version({name!r}))"
        return self.call(self.python, "-c", words).strip()

    def call(self, *command: object, code: int = 0, **variables: str) -> str:
        """Run a command in the program's environment; what it prints.

        Raises:
            RuntimeError: it ends with another status than `code`.
        """
        done = subprocess.run(
            [str(part) for part in command],
            env={**self.environment, **variables},
            cwd=self.work,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != code:
            said = (done.stdout + done.stderr)[-3000:]
            raise RuntimeError(f"{command[:4]} ended with {done.returncode}: {said}")
        return done.stdout

    @contextlib.contextmanager
    def serve(
        self,
        command: Callable[[int], Sequence[object]],
        ready: str,
        seconds: int = 240,
        **variables: str,
    ) -> Iterator[str]:
        """A server of the program while the block runs; its address without a path.

        Args:
            command: the command line for a port.
            ready: the path that is answered (with any status below 500) once it is ready.
            seconds: how long it may take to start.
            variables: of the environment, beside the usual ones.

        Raises:
            NotRunError: it ended or was not ready in time.
        """
        port = free_port()
        log = self.work / f"server-{port}.log"
        with log.open("wb") as stream:
            process = children.started(
                [str(part) for part in command(port)],
                env={**self.environment, **variables},
                cwd=self.work,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait(process, f"{address}{ready}", seconds, log)
            yield address
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def keep(self, name: str, value: object) -> None:
        """Record a value as JSON (``http.json``, ``expected.json``); bytes as they are."""
        file = self.recorded / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, bytes):
            file.write_bytes(value)
            return
        plain = msgspec.to_builtins(value)
        file.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", "utf-8")


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], url: str, seconds: int, log: Path) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            with urlopen(url, timeout=5):
                return
        except HTTPError as error:
            if error.code < 500:
                return
        except OSError:
            pass
        time.sleep(0.3)
    said = " ".join(log.read_text("utf-8", errors="replace").split())[-300:]
    state = "ended" if process.poll() is not None else f"not ready after {seconds} s"
    raise NotRunError(f"the server {state}: {said}")


def exchange_command(
    program: Program, python: Path, work: Path, recorded: Path, table: Path = TABLE
) -> list[str]:
    """The command that runs one exchange in a process of its own."""
    return [
        *module_command("contracting"), program.name, "--python", str(python),
        "--work", str(work), "--recorded", str(recorded), "--table", str(table),
    ]  # fmt: skip


def run_exchange(contract: Contract, table: Path = TABLE) -> Result:
    """Run an exchange in this process and record its result.

    An exchange is a module with ``exchange(contract) -> Iterable[Exchanged]`` and, where the
    version is not that of the first package, ``version(contract) -> str``.
    """
    file = table.parent / "exchanges" / contract.program.exchange
    spec = importlib.util.spec_from_file_location(f"exchange_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines: Iterable[Exchanged] = module.exchange(contract)
    exchanges = tuple(lines)
    named = getattr(module, "version", None)
    version = named(contract) if named else contract.version()
    result = Result(program=contract.program.name, version=version, exchanges=exchanges)
    contract.keep(RESULT, result)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one exchange; 0 if it ran, 3 if its program did not start."""
    parser = argparse.ArgumentParser(description="Run the exchange with one program.")
    parser.add_argument("name")
    for option in ("--python", "--work", "--recorded"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--table", type=Path, default=TABLE)
    chosen = parser.parse_args(arguments)
    for folder in (chosen.work, chosen.recorded):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    program = programs(chosen.table)[chosen.name]
    try:
        run_exchange(Contract(program, chosen.python, chosen.work, chosen.recorded), chosen.table)
    except NotRunError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return NOT_RUN
    return 0


if __name__ == "__main__":
    sys.exit(main())
