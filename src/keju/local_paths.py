"""`check_local`: reject addresses (``s3://…``, ``https://…``) in place of paths.

A path such as ``s3://bucket/run`` would be a local directory called ``s3:``, whose content is lost
with the machine. keju reads and writes local files, on the command line, in recipes and in Python;
only datasets can be in an object store (`keju.object_stores`).
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from keju.errors import UsageError

_SCHEMES = (
    "s3|s3a|s3n|gs|gcs|az|azure|abfs|abfss|wasbs?|adl|oss|cos|obs|r2|b2|swift|hdfs|viewfs|hf|"
    "webdavs?|davs?|https?|ftps?|sftp|scp|ssh|git|file|memory|dbfs|kaggle|modelscope"
)
# `Path` converts two slashes to one. Models are replay:PATH and got:PATH, encoders NAME=PATH.
_ADDRESS = re.compile(
    rf"(?:replay:|got:|[\w-]+=)?(?:(?:{_SCHEMES}):/|[a-z][a-z0-9+.-]+://)", re.IGNORECASE
)
_BARE = re.compile(r"[\w.:/\\+-]+")


def check_local(path: Path | str, name: str = "") -> None:
    """Reject an address in place of a path by a `UsageError`; `name` is its option or setting."""
    address = str(path)
    if _ADDRESS.match(address):
        shown = address if "://" in address else address.replace(":/", "://", 1)
        raise UsageError(
            "{}: keju reads and writes local files, not addresses. Use a local path, and copy the "
            "files from or to the address",
            f"{name} {shown}".strip(),
        )


def shell_quoted(text: str, *, windows: bool = os.name == "nt") -> str:
    """A path or another text as one word of a command that users can copy.

    In cmd and PowerShell (`windows`) a single quote or a backslash does not quote.
    """
    if not windows:
        return shlex.quote(text)
    return text if _BARE.fullmatch(text) else f'"{text}"'
