"""`permission`: whether restricted data may be sent, by option or by a question on the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from keju.cli.app import err, note
from keju.cli.options import model_option
from keju.texts import _

if TYPE_CHECKING:
    from keju.running.restricted_data import Permission

_YES = frozenset({"y", "yes", "是"})

SendRestricted = Annotated[
    bool,
    model_option(
        "--send-restricted-data",
        help="Send data whose licence is unknown or does not allow copies to servers that are not"
        " on this machine, without a question. Without a terminal this option is needed for such "
        "data, e.g. keju run scans --model openai:gpt-4o --send-restricted-data -o my-run",
    ),
]


def permission(given: bool) -> Permission:
    """The permission of a command: its option, else a question, if there is a terminal."""
    from keju.running.restricted_data import Permission

    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    return Permission(given=given, ask=_ask if terminal else None)


def _ask(text: str) -> bool:
    """Show a text and read an answer; only a clear yes permits."""
    note(text)
    err.print(_("Send them? [y/N]"), end=" ", markup=False)
    return sys.stdin.readline().strip().casefold() in _YES
