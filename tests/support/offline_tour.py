"""Commands of keju one after another, for a namespace that is watched: ``offline_tour.py FOLDER``.

Exit status 1, with its errors, as soon as one of them fails. With Inspect installed, a run through
one of its providers and `inspect eval` are among them. ``offline_tour.py FOLDER ray`` builds on
Ray.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

from PIL import Image

from tests.support.children import started
from tests.support.serving import Chat

_RECIPE = """
name = "small"
[[source]]
form = "images"
path = "scans"
licence = "CC0-1.0"
source = "drawn"
[[step]]
do = "standardise"
tiny = true
"""


def _keju(*arguments: str) -> None:
    _command(sys.executable, "-m", "keju", *arguments)


def _command(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}")


def _build(*options: str) -> None:
    Path("scans").mkdir()
    for number in range(4):
        Image.effect_noise((120, 150 + number), 90).save(f"scans/{number}.png")
    Path("small.toml").write_text(_RECIPE, encoding="utf-8")
    _keju("build", "small.toml", "--out", "built", *options)


def _serve() -> None:
    """Start the server, load its first page and interrupt it."""
    process = started(
        [sys.executable, "-m", "keju", "serve", "run", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = process.stdout.readline().split(": ", 1)[1].strip()
        with build_opener(HTTPCookieProcessor()).open(address, timeout=30) as reply:
            assert reply.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()


def _ask_by_inspect() -> None:
    """Ask a local server through a provider of Inspect, and in Inspect's own evaluation."""
    chat = Chat()
    try:
        os.environ |= {"LOCAL_API_KEY": "local-key-of-the-tests", "LOCAL_BASE_URL": chat.url}
        _keju("run", "mini", "--model", "inspect:openai-api/local/m", "--limit", "2", "--task",
              "T2", "--out", "asked")  # fmt: skip
        _command(str(Path(sys.executable).with_name("inspect")), "eval", "keju_inspect/mcs_bench",
                 "-T", "task=T2", "--model", "openai-api/local/m", "--limit", "2",
                 "--display", "none")  # fmt: skip
    finally:
        chat.stop()


def _tour() -> None:
    _keju("run", "mini", "--model", "baseline:copy", "--model", "ppocr", "--limit", "4",
          "--out", "run")  # fmt: skip
    _keju("score", "run")
    _keju("report", "run", "--published", "-o", "report.html")
    _build()
    _serve()
    if find_spec("inspect_ai"):
        _ask_by_inspect()


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    if sys.argv[2:] == ["ray"]:
        _build("--engine", "ray")
    else:
        _tour()
    print(json.dumps(sorted(path.name for path in Path().iterdir())))
