"""`refuse_addresses`: reject web addresses in the path options of all commands.

Datasets can be read from and written to object stores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from keju.cli.help_texts import parameter_name
from keju.local_paths import check_local
from keju.object_stores import is_address

_OF_PATHS = re.compile(
    r"(?:^|[|=])(?:DATASET|RUN|SRC|DIR|PATH|MODEL|OTHER|[\w.]*\.(?:toml|json|csv|html|zip))\b|FILE"
)


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


def may_be_remote(parameter: Any) -> bool:  # noqa: ANN401
    """Whether a parameter is a dataset to read, or one whose value is shown as ``ADDRESS``."""
    shown = parameter.metavar or ""
    return shown == "DATASET" or "ADDRESS" in shown


def _checked(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    def check(context: Any, parameter: Any, value: Any) -> Any:  # noqa: ANN401
        for each in value if isinstance(value, list | tuple) else [value]:
            remote = isinstance(each, str | Path) and is_address(each)
            if isinstance(each, str | Path) and not (remote and may_be_remote(parameter)):
                check_local(each, parameter_name(parameter))
        return value if callback is None else callback(context, parameter, value)

    return check
