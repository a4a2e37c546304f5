"""Runs the runner in a process that a test may kill: DATASET OUT URL CONCURRENCY [flags]."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from keju.errors import KejuError
from keju.models import ModelOptions
from keju.running import Policy, run


def main(dataset: str, out: str, url: str, concurrency: str, *flags: str) -> int:
    policy = Policy(
        concurrency=int(concurrency),
        retry_failed="--retry-failed" in flags,
        first_wait=0.05,
        timeout=20.0,
    )
    try:
        summary = run(
            Path(dataset),
            ["openai:served"],
            Path(out),
            options=ModelOptions(base_url=url),
            policy=policy,
            console=Console(stderr=True),
        )
    except KejuError as error:
        sys.stderr.write(f"keju: {error}\n")
        return 2
    sys.stdout.write(f"{summary.models[0]}\n{summary.advice}\n")
    return 0 if summary.complete else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
