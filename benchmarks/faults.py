"""What becomes of a run when everything goes wrong: faults, kills, a full disk, a long run resumed.

Against a misbehaving local server in a process of its own. Each part says what it saw and whether
it held; a part that did not ends the script with status 1.

    python -m benchmarks.faults [--part faults] [--kills 200] [--requests 20000]
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from keju.datasets.store import DatasetWriter
from keju.models import ModelOptions
from keju.running import ModelSummary, run
from keju.runs import RunFolder
from tests.support.making import page_item, picture
from tests.support.policies import policy_of
from tests.support.serving import Chat, run_command

MODEL = "openai:served"
FAULTS = [
    "429", "429-after", "429-date", "500", "503", "529", "408", "504", "drop-before", "drop-body",
    "slow-body", "html", "html-502", "truncated-json", "wrong-json", "empty-choices",
    "error-object", "empty-content", "filter", "refusal", "policy", "bad-image", "length", "400",
    "401", "no-credit", "hang",
]  # fmt: skip
NEVER = {"empty-content", "filter", "refusal", "policy", "bad-image", "length", "400", "401",
         "no-credit"}  # fmt: skip
CALM_POLICY = {"first_wait": 0.05, "longest_wait": 1.0, "timeout": 2.0}

console = Console(highlight=False, width=110)
missed: list[str] = []


def check(good: bool, said: str) -> None:
    console.print(f"{'kept' if good else 'MISSED'}: {said}")
    if not good:
        missed.append(said)


def made(path: Path, items: int) -> Path:
    """A dataset of so many questions about one picture."""
    with DatasetWriter(
        path, name="faults", version="1", licence="CC0-1.0", source="benchmark"
    ) as writer:
        ref = writer.add_image(picture(1), "picture")
        for number in range(items):
            writer.add(page_item(f"i{number:06}", images=(ref,)))
    return path


def asked(path: Path, out: Path, chat: Chat, at_once: int = 32) -> ModelSummary:
    return run(
        path,
        [MODEL],
        out,
        options=ModelOptions(base_url=chat.url),
        policy=policy_of(concurrency=at_once, dead_after=10**6, **CALM_POLICY),
    ).models[0]


def faults(folder: Path, chat: Chat) -> None:
    """Each fault alone for one request in two, then a storm of all of them for 30 %."""
    few = made(folder / "few", 60)
    many = made(folder / "many", 1000)
    table = Table("fault", "items", "ended so", "requests sent", "s waited, over all")
    whole = True
    for mode in [*FAULTS, "storm"]:
        path = many if mode == "storm" else few
        modes, share = (FAULTS, 0.3) if mode == "storm" else ([mode], 0.5)
        chat.plan(modes=modes, share=share, times=1, after="0.2", slow=0.3, hang=20)
        out = folder / f"run-{mode}"
        model = asked(path, out, chat)
        seen = chat.stats()
        responses = list(RunFolder.open(out).responses())
        items = {r.item for r in responses}
        whole &= len(items) == len(responses) == model.planned and model.left == 0
        whole &= all(not r.text for r in responses if r.error or r.status == "failed")
        whole &= all(r.text == f"answer to {r.item}" for r in responses if r.status == "answered")
        whole &= seen["requests"] == model.attempts
        if mode not in {*NEVER, "storm"}:
            whole &= model.statuses == {"answered": model.planned}
        ended = {**model.statuses, **{f"failed: {k}": n for k, n in model.failures.items()}}
        table.add_row(
            mode, str(model.planned), ", ".join(f"{n} {k}" for k, n in ended.items()),
            f"{model.attempts:,}", f"{model.waited:.1f}",
        )  # fmt: skip
    console.print(table)
    check(
        whole, "every item ends answered or classified; no failure has a text; each request counted"
    )


def contents(out: Path) -> dict[str, tuple[str, str, str]]:
    found = {r.item: (r.key, r.status, r.text) for r in RunFolder.open(out).responses()}
    lines = sum(path.read_bytes().count(b"\n") for path in out.glob("responses/*/*.jsonl"))
    return found if lines == len(found) else {}


def whole_lines(out: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in out.glob("responses/*/*.jsonl"))


def kills(folder: Path, chat: Chat, count: int, at_once: int = 16) -> None:
    """Kill −9 at random moments of one run, then its store beside that of an undisturbed run."""
    items = 12 * count
    draw = random.Random(count)
    path = made(folder / "killed", items)
    chat.plan(delay=0.05)
    asked(path, folder / "calm", chat)
    chat.plan(delay=0.05)
    out = folder / "disturbed"
    command = run_command(path, out, chat, at_once=at_once)
    lost, worst, while_starting = 0, 0, 0
    for _ in range(count):
        before, seen = whole_lines(out), chat.stats()["requests"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if draw.random() < 0.9:
            while process.poll() is None and chat.stats()["requests"] == seen:
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.12))
        else:
            time.sleep(draw.uniform(0, 2))
        process.kill()
        process.wait()
        time.sleep(0.1)  # what was on its way arrives at the server
        sent = chat.stats()["requests"] - seen
        while_starting += sent == 0
        unstored = sent - (whole_lines(out) - before)
        lost, worst = lost + unstored, max(worst, unstored)
    stored = whole_lines(out)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    requests = chat.stats()["requests"]
    console.print(
        f"{count} kills, {while_starting} of them before anything was sent; {stored:,} of "
        f"{items:,} answers stored at the last; {requests:,} requests in all, {lost} of them in "
        f"flight at the kills, {worst} at once"
    )
    check(
        done == 0 and contents(out) == contents(folder / "calm"),
        "the store equals an undisturbed run's",
    )
    check(requests <= items + lost, f"requests ≤ items + in flight at the kills ({items + lost:,})")
    check(worst <= at_once, f"never more than {at_once} were in flight")


def full_disk(folder: Path, chat: Chat) -> None:
    """A run onto a tmpfs of 1 MB that fills up, and again with more room."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        console.print("left out: a small disk cannot be mounted here (needs root)")
        return
    try:
        path = made(folder / "filling", 600)
        chat.plan(says="書" * 1500)
        command = run_command(path, disk / "run", chat, at_once=16)
        stopped = subprocess.run(command, capture_output=True, text=True, check=False)
        kept = whole_lines(disk / "run")
        seen = chat.stats()["requests"]
        said = stopped.stderr.strip().splitlines()[-1]
        console.print(f"stopped with {stopped.returncode} after {kept} answers: {said}")
        good = stopped.returncode == 2 and "Traceback" not in stopped.stderr
        check(
            good and seen - kept <= 16 + 1, "a full disk is a clean stop; all before it is stored"
        )
        subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        good = again.returncode == 0 and whole_lines(disk / "run") == 600
        good &= chat.stats()["requests"] == 600 + seen - kept
        check(good, "with room it goes on to the end, and nothing stored is asked again")
    finally:
        subprocess.run(["umount", disk], check=False)


def resume(folder: Path, requests: int) -> None:
    """How long a run takes to find that nothing is left to ask, imports included."""
    path = made(folder / "long", requests)
    out = folder / "long-run"
    run(path, ["baseline:copy"], out)
    command = [
        sys.executable,
        "-m",
        "keju",
        "run",
        str(path),
        "--model",
        "baseline:copy",
        "-o",
        out,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    console.print(f"{wall:.1f} s of wall time, load {os.getloadavg()[0]:.1f}")
    check(cpu <= 2, f"resuming {requests:,} requests takes {cpu:.2f} s of CPU of at most 2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["faults", "kills", "disk", "resume"])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--requests", type=int, default=20_000)
    arguments = parser.parse_args()
    os.environ.pop("OPENAI_API_KEY", None)
    chat = Chat()
    parts = {
        "faults": lambda folder: faults(folder, chat),
        "kills": lambda folder: kills(folder, chat, arguments.kills),
        "disk": lambda folder: full_disk(folder, chat),
        "resume": lambda folder: resume(folder, arguments.requests),
    }
    with tempfile.TemporaryDirectory() as name:
        for part, go in parts.items():
            if arguments.part in {None, part}:
                console.rule(part)
                go(Path(name))
    chat.stop()
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
