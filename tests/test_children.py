"""What a test starts ends with it, also when the test is killed and cleans up nothing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import ROOT

TESTS = Path(__file__).parent
KILLED = """
import os, signal, sys
from tests.support.children import started
from tests.support.serving import Chat
chat = Chat()
sleeper = started([sys.executable, "-c", "import time; time.sleep(600)"])
print(chat.url.split(":")[2].split("/")[0], chat.pid, sleeper.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody waits for."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in {"Z", "X"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_server_and_a_process_end_with_a_killed_parent():
    done = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    port, *pids = map(int, done.stdout.split())
    assert port
    assert len(pids) == 2
    until = time.monotonic() + 60
    while not all(ended(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    left = [pid for pid in pids if not ended(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def test_every_process_of_a_test_is_started_as_a_child_and_every_server_finds_its_own_port():
    bare = re.compile(r"\bPopen\(\s*(?!\))|Server\(\(\"[\d.]*\", [1-9]|\"--port\", \"?[1-9]")
    found = [
        f"{path.relative_to(TESTS)}: {match[0]}"
        for path in TESTS.rglob("*.py")
        if path.name not in {"children.py", Path(__file__).name}
        for match in bare.finditer(path.read_text("utf-8"))
    ]
    assert found == []
