"""`refuse_addresses`: no command takes an address (``s3://…``, ``https://…``) for a path.

A path like ``s3://bucket/run`` would be a local folder called ``s3:``, whose content is lost with
the machine. keju reads and writes local files only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from keju.errors import UsageError

_SCHEMES = (
    "s3|s3a|s3n|gs|gcs|az|azure|abfs|abfss|wasbs?|adl|oss|cos|obs|r2|b2|swift|hdfs|viewfs|hf|"
    "webdavs?|davs?|https?|ftps?|sftp|scp|ssh|git|file|memory|dbfs|kaggle|modelscope"
)
# `Path` makes one slash of two. Models are replay:PATH and got:PATH, encoders
# NAME=PATH.
_ADDRESS = re.compile(
    rf"(?:replay:|got:|[\w-]+=)?(?:(?:{_SCHEMES}):/|[a-z][a-z0-9+.-]+://)", re.IGNORECASE
)
_PREFIX = re.compile(r"replay:|got:|[\w-]+=")
_OF_PATHS = re.compile(
    r"(?:^|[|=])(?:DATASET|RUN|SRC|DIR|PATH|MODEL|OTHER|[\w.]*\.(?:toml|json|csv|html|zip))\b|FILE"
)
_COMMANDS = {
    "s3": "aws s3 cp --recursive ADDRESS FOLDER",
    "gs": "gcloud storage cp -r ADDRESS FOLDER",
    "hf": "hf download NAME --repo-type dataset --local-dir FOLDER",
}


def refuse_addresses(command: Any) -> None:  # noqa: ANN401 - Typer's own class of commands
    """Make every path option and argument of a command and its subcommands refuse addresses."""
    for each in _parameters(command):
        if _is_path(each):
            each.callback = _checked(each.callback)


def _parameters(command: Any) -> Iterator[Any]:  # noqa: ANN401
    yield from command.params
    for each in getattr(command, "commands", {}).values():
        yield from _parameters(each)


def _is_path(parameter: Any) -> bool:  # noqa: ANN401
    """Whether a parameter names files: by its type, or by how ``--help`` shows its value."""
    shown = parameter.metavar or ""
    is_text = "TEXT" in shown
    return "Path" in str(parameter.bare_type()) or bool(_OF_PATHS.search(shown) and not is_text)


def _checked(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    def check(context: Any, parameter: Any, value: Any) -> Any:  # noqa: ANN401
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, str | Path) and _ADDRESS.match(str(each)):
                raise UsageError(_refusal(parameter, str(each)))
        return value if callback is None else callback(context, parameter, value)

    return check


def _refusal(parameter: Any, value: str) -> str:  # noqa: ANN401
    option = max(parameter.opts, key=len)
    name = option if option.startswith("-") else parameter.metavar or parameter.name
    scheme = _PREFIX.sub("", value, count=1).partition(":")[0].casefold()
    shown = value if "://" in value else value.replace(":/", "://", 1)
    if scheme == "file":
        return f"{name} {shown}: an address, not a path. Use the path without file://"
    command = _COMMANDS.get({"s3a": "s3", "s3n": "s3", "gcs": "gs"}.get(scheme, scheme))
    how = f", for example with: {command}" if command else ""
    return (
        f"{name} {shown}: keju reads and writes local files, not addresses. Use a local path, and "
        f"copy the files from or to the address{how}"
    )
