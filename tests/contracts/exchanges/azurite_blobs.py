"""The tests of object stores with Azurite, Microsoft's emulator of Azure Blob Storage."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

from tests.support import ROOT
from tests.support.contracting import Contract, Exchanged, compared

TESTS = {
    "datasets written, read and released; conditional puts": "object_stores/test_datasets.py",
    "images and results of workers": "building/test_worker_files.py",
}


def version(contract: Contract) -> str:
    """The pinned version."""
    return contract.program.pinned


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Each file of tests with `az://` addresses, where `azurite-blob` is found."""
    for what, file in TESTS.items():
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-n", "0", "-k", "az", ROOT / "tests" / file],
            cwd=ROOT,
            env={**os.environ, "PATH": f"{contract.commands}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        sys.stdout.write(done.stdout)
        passed = re.findall(r"\d+ passed", done.stdout)[-1:]
        yield compared(what, (0, 1), (done.returncode, len(passed)), f"tests: {''.join(passed)}")
