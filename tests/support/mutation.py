"""Mutated sources, and what readers do with them.

``python -m tests.support.mutation --count 5000`` runs that many. Every case copies a sound
source, mutates one file of the copy by the seed, examines it and drafts a mapping as
``keju data detect`` does, imports it, and validates what was imported. Its faults are what must
never happen: a traceback, more than 20 seconds, more than 2 GB, a refusal that is not one printable
line with a file and a hint, or a dataset after a refusal. A case depends on the seed and its number
alone, so ``--only NUMBER --keep DIR`` makes it again.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from keju.cli.output.detected_formats import as_data, describe_findings
from keju.datasets.examine import examine
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.errors import DataError, KejuError, ProblemsError, UsageError, printable
from tests.support import ROOT, module_command
from tests.support.damage import DAMAGES
from tests.support.layouts import MAP, layouts, options_for
from tests.support.mutations import NAMES, RAW, STRUCTURED, Mutation, kind_of
from tests.support.mutations.mapped import SOURCES as MAPPED
from tests.support.released import FORMS

SECONDS = 20
MEMORY = 2 << 30
LONGEST = 2000
"""Characters of a refusal. A line with a long path is shorter."""

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}

_ENVIRON = {**os.environ, "MALLOC_ARENA_MAX": "1", "POLARS_MAX_THREADS": "1"}
"""Of the processes: each thread's arena would take address space, which is what is limited."""

_RESERVED = 1 << 30
"""Address space that allocators reserve and do not use; what is used is measured besides."""

_STRUCTURED_SHARE = 0.75
_TRIES = 40


class Source(NamedTuple):
    """A sound source: its name, its format, how it is written, and the options of its import."""

    name: str
    format: str
    write: Callable[[Path], Path | None]
    options: Mapping[str, str]


class Case(NamedTuple):
    """What was done in one case, and what came of it. `fault` is empty where nothing is wrong."""

    number: int
    source: str
    format: str
    mutation: str
    structured: bool
    outcome: str
    seconds: float
    peak: int
    said: str
    fault: str


_ENDED = Case(0, "", "", "", structured=False, outcome="", seconds=0.0, peak=0, said="", fault="")


class _TimeUp(BaseException):
    """A case takes too long. No handler of readers catches it."""


@cache
def sources() -> dict[str, list[Source]]:
    """Every layout and form by format, so that each format is drawn equally often."""
    found: dict[str, list[Source]] = {}
    every = [Source(each.name, each.reader, each.write, each.options) for each in layouts()]
    every += [Source(name, form.name, form.build, form.options) for name, form in FORMS.items()]
    every += [Source(name, "mapped", write, {"map": MAP}) for name, write in MAPPED.items()]
    for each in every:
        found.setdefault(each.format, []).append(each)
    return found


def cases(numbers: Iterable[int], seed: int, home: Path) -> Iterator[Case]:
    """Run cases, one after the other, in a folder that is emptied after each."""
    sound = home / "sound"
    for number in numbers:
        place = home / "case"
        shutil.rmtree(place, ignore_errors=True)
        draw = Random(f"{seed}:{number}")
        source = draw.choice(sources()[draw.choice(list(sources()))])
        src = _copied(source, sound, place)
        mutation, structured = mutate(place / "src", draw)
        yield _run(number, source, src, mutation, structured=structured)
    shutil.rmtree(home / "case", ignore_errors=True)


def _copied(source: Source, sound: Path, place: Path) -> Path:
    """A copy of a sound source, which is written once; what is imported of it."""
    folder = sound / f"{Random(source.name).randrange(1 << 40):x}"
    where = folder / "imported"
    if not where.exists():
        shutil.rmtree(folder, ignore_errors=True)
        path = source.write(folder / "src") or folder / "src"
        where.write_text(path.relative_to(folder).as_posix(), "utf-8")
    shutil.copytree(folder / "src", place / "src", symlinks=True)
    return place / where.read_text("utf-8")


def mutate(src: Path, draw: Random) -> tuple[str, bool]:
    """Mutate one file of a source; the name of the mutation, and whether it knows structure."""
    files = sorted(path for path in src.rglob("*") if path.is_file() and not path.is_symlink())
    tables = [path for path in files if kind_of(path) not in {"images", ""}]
    for _ in range(_TRIES):
        path = draw.choice(tables if tables and draw.random() < 0.8 else files)
        structured = draw.random() < _STRUCTURED_SHARE
        if structured and draw.random() < 0.1:
            name = draw.choice(list(DAMAGES))
            with suppress(UnicodeDecodeError):  # The kinds of damage are made for UTF-8.
                if DAMAGES[name].do(src) is not None:
                    return f"{name} (damage)", True
            continue
        kinds: Mapping[str, Mutation] = STRUCTURED.get(kind_of(path), {}) if structured else (
            NAMES if draw.random() < 0.35 else RAW
        )  # fmt: skip
        if kinds:
            name = draw.choice(list(kinds))
            if kinds[name](path, draw):
                return f"{name}: {path.relative_to(src).as_posix()!a}", structured
    raise AssertionError(f"no mutation fits {src}")


def _run(number: int, source: Source, src: Path, mutation: str, *, structured: bool) -> Case:
    place = src
    while place.name != "case":
        place = place.parent
    out = place / "out"
    gc.collect()  # Errors of the case before may hold what it read.
    began = time.monotonic()
    signal.alarm(SECONDS)
    outcome = said = fault = ""
    try:
        outcome, said, fault = _outcome(source, src, out)
    except _TimeUp:
        fault = f"more than {SECONDS} s: {_where()}"
    except MemoryError:
        fault = f"more than {MEMORY >> 30} GB: {_where()}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        fault = f"{type(error).__name__}: {str(error)[:200]} {_where()}"
    finally:
        signal.alarm(0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return Case(number, source.name, source.format, mutation, structured, outcome,
                time.monotonic() - began, peak, said, fault)  # fmt: skip


def _where() -> str:
    """The last few places of the traceback that are keju's own."""
    frames = traceback.extract_tb(sys.exc_info()[2])
    own = [each for each in frames if "/keju/" in each.filename] or frames
    return " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in own[::-1][:4])


def _outcome(source: Source, src: Path, out: Path) -> tuple[str, str, str]:
    """What became of a source, what was said, and what is wrong with that."""
    try:
        found = examine(src, seconds=5)
        json.dumps([list(describe_findings(found)), as_data(found)])
    except KejuError as error:
        if fault := _wrong(error):
            return "refused", str(error), f"detect: {fault}"
    try:
        options = options_for(source.options, src)
        import_dataset(source.format, src, out, **ABOUT, options=options)
    except KejuError as error:
        left = " a dataset is there after the refusal" if (out / "dataset.json").exists() else ""
        return "refused", str(error), f"{_wrong(error)}{left}".strip()
    findings = list(map(str, validate(out)))
    Dataset.open(out).items()
    odd = next((line for line in findings if line != printable(line)), "")
    return "imported", "; ".join(findings)[:200], f"a finding is not printable: {odd!a}" * bool(odd)


def _wrong(error: KejuError) -> str:
    """What is wrong with a refusal; empty for one printable line with a file and a hint.

    Several problems of one folder are one line each.
    """
    text = str(error)
    several = isinstance(error, ProblemsError)
    for line in error.lines if isinstance(error, ProblemsError) else (text,):
        if line != printable(line) or len(line) > LONGEST:  # Private-use characters are text.
            return f"not one printable line of at most {LONGEST:,} characters: {line[:300]!a}"
    if isinstance(error, DataError) and not several and not (error.file and error.hint):
        return f"without file or hint: {text}"
    if not isinstance(error, DataError | UsageError):
        return f"{type(error).__name__}: {text}"
    return ""


def _worker(start: int, stop: int, seed: int) -> None:
    """Run cases in this process, within the limits, and print each as a line of JSON."""

    def time_up(*_: object) -> None:
        raise _TimeUp

    signal.signal(signal.SIGALRM, time_up)
    with tempfile.TemporaryDirectory() as home:
        now = (
            int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
            * resource.getpagesize()
        )
        limit = now + MEMORY + _RESERVED
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        for case in cases(range(start, stop), seed, Path(home)):
            faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
            print(json.dumps(case), flush=True)
        faulthandler.cancel_dump_traceback_later()


def run_cases(start: int, stop: int, seed: int) -> list[Case]:
    """Cases in processes of their own; one that ends its process is a fault, and the next go on."""
    found: list[Case] = []
    at = start
    while at < stop:
        command = [*module_command("mutation"), "--worker", str(at), str(stop), "--seed", str(seed)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=_ENVIRON, cwd=ROOT
        )
        rows = [Case(*json.loads(line)) for line in done.stdout.splitlines() if line[:1] == "["]
        found += rows
        at += len(rows)
        if at < stop:
            why = f"the process ended with {done.returncode}: {done.stderr[-600:]}"
            found.append(_ENDED._replace(number=at, fault=why))
            at += 1
    return found


def faults(found: Iterable[Case]) -> list[str]:
    """What is wrong in some cases, one line each."""
    told = []
    peak = 0
    for case in found:
        fault = case.fault
        if case.seconds > SECONDS and not fault:
            fault = f"{case.seconds:.0f} s"
        if case.peak > MEMORY > peak and not fault:
            fault = f"{case.peak >> 20:,} MiB"
        peak = max(peak, case.peak)
        if fault:
            told.append(f"{case.number} {case.source} [{case.mutation}]: {fault}")
    return told


def _keep(number: int, seed: int, folder: Path) -> None:
    """Write a mutated source into a folder, to look at."""
    draw = Random(f"{seed}:{number}")
    source = draw.choice(sources()[draw.choice(list(sources()))])
    src = _copied(source, folder / "sound", folder)
    print(source.name, dict(source.options), src, mutate(folder / "src", draw), sep="\n")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=Path, help="write the source of --only here")
    parser.add_argument("--worker", type=int, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        _worker(*given.worker, given.seed)
        return 0
    if given.keep:
        _keep(given.only, given.seed, given.keep)
        return 0
    start, stop = (0, given.count) if given.only is None else (given.only, given.only + 1)
    found: list[Case] = []
    for at in range(start, stop, 250):
        some = run_cases(at, min(at + 250, stop), given.seed)
        print(*faults(some), sep="\n", flush=True)
        found += some
    _report(found)
    return bool(faults(found))


def _report(found: list[Case]) -> None:
    told = Counter(case.outcome or "fault" for case in found)
    slow = max(found, key=lambda case: case.seconds)
    structured = sum(case.structured for case in found)
    print(f"{len(found):,} cases, {structured:,} structured: {dict(told)}")
    print(f"slowest {slow.seconds:.1f} s: {slow.number} {slow.source} [{slow.mutation}]")
    print(f"peak {max(case.peak for case in found) >> 20:,} MiB")


if __name__ == "__main__":
    sys.exit(main())
