"""Commands over mutated inputs, each case in a forked process with limits of time and memory.

``python -m tests.support.mutated_commands --count 2000`` runs that many on two processes. A
case copies a sound input (`mutated_inputs`), mutates one of its files by the seed, and runs the
input's commands as the command line does. Its faults are what must never happen: a traceback, an
exit status other than 0, 1 and 2, a refusal that is not one printable line, more than 20 seconds,
more than 2 GB, a file outside of the output, or an output that looks complete after a refusal. A
case depends on the seed and its number alone, so ``--only NUMBER --keep DIR`` makes it again.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import importlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import BinaryIO, NamedTuple

from keju.errors import printable
from tests.support import ROOT, children, module_command
from tests.support.forked import WALL, Ended, forked
from tests.support.mutated_inputs import INPUTS, Command, Input, dataset, libraries
from tests.support.mutation import MEMORY, SECONDS, mutate

LONGEST = 2000
_SEVERAL = ("build recipe", "data validate", "data import", "data detect", "build review import")
"""Commands that list every fault of their input, one a line."""

_WORKERS, _CHUNK = 2, 300

_MODULES = (
    "aiohttp", "daft", "imagehash", "keju.building.pipeline",
    "keju.building.steps", "keju.cli", "keju.datasets.validate", "keju_inspect.export",
    "keju.judging", "keju.published", "keju.reporting", "keju.running", "keju.scoring",
    "openpyxl", "scipy.stats",
)  # fmt: skip


class Case(NamedTuple):
    """What was done in one case, and what came of it. `fault` is empty where nothing is wrong."""

    number: int
    kind: str
    name: str
    mutation: str
    structured: bool
    statuses: tuple[int, ...]
    seconds: float
    peak: int
    said: str
    fault: str


def cases(numbers: Iterable[int], seed: int, home: Path) -> Iterator[Case]:
    """Run cases, one after the other, in a folder that is emptied after each."""
    home.mkdir(parents=True, exist_ok=True)
    _apart(lambda: (str(dataset(home / "data")), True))
    with _served(home) as address:
        every = {**INPUTS, "iiif": libraries(f"{address}/case/src")}
        for number in numbers:
            draw = Random(f"{seed}:{number}")
            drawn = draw.choice(every[draw.choice(list(every))])
            yield _case(number, drawn, draw, home)
    shutil.rmtree(home / "case", ignore_errors=True)


def _case(number: int, drawn: Input, draw: Random, home: Path) -> Case:
    place = home / "case"
    mutation, structured = _apart(lambda: _prepared(drawn, draw, home))
    faults: list[str] = []
    done: list[Ended] = []
    for command in drawn.commands:
        shown = _shown(command)
        before = _listed(place)
        ended = forked(_filled(command, home, place), place)
        done.append(ended)
        faults += [f"{shown}: {fault}" for fault in refusal_faults(command, ended)]
        faults += [f"{shown}: wrote {name}" for name in sorted(_listed(place) - before)]
        product = drawn.product and place / _out(drawn.product)
        if ended.status == 2 and product and "OUT" in " ".join(command) and product.exists():
            faults.append(f"{shown}: {drawn.product} exists after the refusal")
    return Case(
        number, drawn.kind, drawn.name, mutation, structured,
        tuple(each.status for each in done), max(each.seconds for each in done),
        max(each.peak for each in done), _last(done[0].err or done[0].out), "; ".join(faults),
    )  # fmt: skip


def _apart(work: Callable[[], tuple[str, bool]]) -> tuple[str, bool]:
    """What a function gives back, called in a fork: threads of libraries would not outlive one."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        code = 1
        try:
            os.write(writing, json.dumps(work()).encode())
            code = 0
        except BaseException:  # noqa: BLE001 - the parent must not go on twice
            traceback.print_exc()
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as given:
        data = given.read()
    if os.waitpid(child, 0)[1]:
        raise AssertionError("an input cannot be made")
    mutation, structured = json.loads(data)
    return mutation, structured


def _prepared(drawn: Input, draw: Random, home: Path) -> tuple[str, bool]:
    return mutate(_copied(drawn, home) / "src", draw)


def _copied(drawn: Input, home: Path) -> Path:
    """A copy of a sound input, which is written once, in a case's folder."""
    data, sound = home / "data", home / "sound" / f"{drawn.kind}-{drawn.name}".replace(" ", "-")
    if not (sound / "done").exists():
        shutil.rmtree(sound, ignore_errors=True)
        (sound / "src").mkdir(parents=True)
        drawn.write(sound / "src", functools.partial(_needed, home), data)
        (sound / "done").touch()
    place = home / "case"
    _remove(place)
    for name in ("home", "tmp", "cwd"):
        (place / name).mkdir(parents=True)
    shutil.copytree(sound / "src", place / "src", symlinks=True)
    return place


def _remove(folder: Path) -> None:
    for each in folder.rglob("*") if folder.exists() else ():
        if each.is_dir() and not each.is_symlink():
            each.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)


def _needed(home: Path, *command: object, cwd: Path | None = None) -> None:
    """Run a command that must succeed to make a sound input."""
    place = home / "making"
    for name in ("home", "tmp", "cwd"):
        (place / name).mkdir(parents=True, exist_ok=True)
    ended = forked(tuple(map(str, command)), place, cwd)
    if ended.status:
        raise AssertionError(f"{command}: {ended.status}: {ended.err}")


def _filled(command: Command, home: Path, place: Path) -> Command:
    def fill(word: str) -> str:
        if word == "DATA":
            return str(home / "data")
        word = word.replace("SRC", str(place / "src"))
        return str(place / _out(word)) if word.startswith("OUT") else word

    return tuple(map(fill, command))


def _out(word: str) -> str:
    """The name of an output in the case's folder: ``OUT2`` is ``out2``."""
    return word.replace("OUT", "out")


def _shown(command: Command) -> str:
    return " ".join(word for word in command[:3] if word.replace("-", "").islower())


def _listed(place: Path) -> set[str]:
    """What must not grow: all but the outputs, the source and keju's cache in the home."""
    found = {
        each.relative_to(place).as_posix()
        for name in ("home", "tmp", "cwd", "outside")
        for each in (place / name).rglob("*")
        if ".cache" not in each.parts
    }
    found |= {each.name for each in place.iterdir() if not each.name.startswith("out")}
    beside = {each.name for each in place.parent.iterdir()} - {"stdout", "stderr"}
    return found | {f"beside: {name}" for name in beside}


def refusal_faults(command: Command, ended: Ended) -> Iterator[str]:
    """What must never happen and did, of one command."""
    if "Traceback (most recent call last)" in ended.err + ended.out:
        yield f"a traceback: {_where(ended.err)}"
    elif ended.status not in {0, 1, 2}:
        yield f"exit status {ended.status}: {ended.err[-300:]!a}"
    if ended.seconds >= WALL or ended.processor > SECONDS:
        yield f"{ended.seconds:.0f} s, {ended.processor:.0f} s of the processor"
    if ended.peak > MEMORY or "memory" in ended.err:
        yield f"{ended.peak >> 20:,} MiB {_last(ended.err)}"
    if ended.status == 2:
        yield from _wrong(" ".join(command[:2]), command, ended.err)


def _wrong(name: str, command: Command, err: str) -> Iterator[str]:
    """What is wrong with a refusal: not one printable line."""
    said = [line for line in err.splitlines() if line.startswith("keju: ")]
    if not said:
        yield f"refused without a line: {err[-300:]!a}"
    if len(said) > 1 and name not in _SEVERAL and command[:3] != ("build", "review", "import"):
        yield f"{len(said)} lines of error: {said[:3]}"
    for line in said:
        if line != printable(line) or len(line) > LONGEST:
            yield f"not a printable line of at most {LONGEST:,} characters: {line[:200]!a}"


def _where(err: str) -> str:
    """The error of a traceback, and the last places of keju in it."""
    lines = err.splitlines()
    own = [line.strip() for line in lines if "/keju/" in line and line.strip().startswith("File")]
    places = [line.rpartition("/keju/")[2].replace('", line ', ":").split(",")[0] for line in own]
    return f"{_last(err)[:200]} at {' < '.join(places[::-1][:4])}"


def _last(text: str) -> str:
    return next((line for line in text.splitlines()[::-1] if line.strip()), "")[:300]


@contextlib.contextmanager
def _served(home: Path) -> Iterator[str]:
    """A server of the files of the case at hand."""

    class Quiet(SimpleHTTPRequestHandler):
        def send_head(self) -> BinaryIO | None:
            if Path(self.translate_path(self.path)).is_file():
                return super().send_head()
            self.send_error(404)  # A pipe would block this server, not the command.
            return None

        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(home))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _import_all() -> None:
    """Import what commands import, which is most of the time that a command takes.

    Nothing is run here that starts threads: they would not exist in a fork.
    """
    for name in _MODULES:
        importlib.import_module(name)
    import jieba

    jieba.setLogLevel(logging.ERROR)
    jieba.initialize()
    gc.freeze()  # Else each fork copies what its collector touches.


def _worker(numbers: Iterable[int], seed: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        _import_all()
        for case in cases(numbers, seed, Path(home) / "work"):
            print(json.dumps(case), flush=True)


def run_cases(start: int, stop: int, seed: int, workers: int = _WORKERS) -> list[Case]:
    """Cases on several processes, each with every n-th case."""
    started = []
    for first in range(start, min(start + workers, stop)):
        numbers = [str(number) for number in range(first, stop, workers)]
        command = [*module_command("mutated_commands"), "--seed", str(seed), "--worker", *numbers]
        environ = {**os.environ, "MALLOC_ARENA_MAX": "1", "POLARS_MAX_THREADS": "1"}
        started.append(
            children.started(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, cwd=ROOT
            )
        )
    found: list[Case] = []
    outputs: list[tuple[bytes, bytes]] = [(b"", b"")] * len(started)

    def collect(place: int) -> None:
        outputs[place] = started[place].communicate()

    threads = [threading.Thread(target=collect, args=(place,)) for place in range(len(started))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process, (out, err) in zip(started, outputs, strict=True):
        found += [Case(*json.loads(line)) for line in out.splitlines()]
        if process.returncode:
            raise AssertionError(f"a worker ended: {err[-2000:].decode('utf-8', 'replace')}")
    return sorted(found)


def faults(found: Iterable[Case]) -> list[str]:
    """What is wrong in some cases, one line each."""
    return [
        f"{case.number} {case.kind} {case.name} [{case.mutation}]: {case.fault}"
        for case in found
        if case.fault
    ]


def _keep(number: int, seed: int, folder: Path) -> None:
    """Write a mutated input into a folder, to look at, and run its commands."""
    for case in cases([number], seed, folder):
        print(*case, sep="\n")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=Path, help="write the input of --only here")
    parser.add_argument("--worker", nargs="+", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        _worker(given.worker, given.seed)
        return 0
    if given.only is not None:
        _keep(given.only, given.seed, given.keep or Path(tempfile.mkdtemp()))
        return 0
    found: list[Case] = []
    stop = given.start + given.count
    for at in range(given.start, stop, _CHUNK):
        some = run_cases(at, min(at + _CHUNK, stop), given.seed)
        print(*faults(some), sep="\n", flush=True)
        found += some
    report(found)
    return bool(faults(found))


def report(found: list[Case]) -> None:
    """Print what was counted: cases by kind and by exit status, the slowest, the largest."""
    kinds = Counter(case.kind for case in found)
    first = Counter(case.statuses[0] for case in found)
    slow = max(found, key=lambda case: case.seconds)
    large = max(found, key=lambda case: case.peak)
    structured = sum(case.structured for case in found)
    print(f"{len(found):,} cases, {structured:,} structured: {dict(kinds)}")
    print(f"exit statuses of the first commands: {dict(first)}")
    print(f"slowest {slow.seconds:.1f} s: {slow.number} {slow.name} [{slow.mutation}]")
    print(f"largest {large.peak >> 20:,} MiB: {large.number} {large.name} [{large.mutation}]")


if __name__ == "__main__":
    sys.exit(main())
