"""`named_groups`: match a regular expression with many names, with a time limit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from keju.errors import UsageError
from keju.messages import message

SECONDS = 20.0
"""Time limit for all names of one source."""

# Python cannot interrupt a match, but a separate process can be ended.
_PROGRAM = """
import json, re, sys
pattern, names = json.load(sys.stdin)
try:
    expression = re.compile(pattern)
except (re.error, OverflowError, RecursionError) as error:
    json.dump({"error": str(error)}, sys.stdout)
else:
    matches = (expression.fullmatch(name) for name in names)
    found = [match and match.groupdict(default="") for match in matches]
    json.dump({"groups": list(expression.groupindex), "found": found}, sys.stdout)
"""


def named_groups(
    pattern: str, names: Sequence[str], *, seconds: float = SECONDS
) -> tuple[tuple[str, ...], list[dict[str, str] | None]]:
    """The names of the groups and, for each name, its groups, or None where it does not match.

    The expression must match the whole name.

    Raises:
        UsageError: it is not a regular expression, has no named group, or takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with a program of our own
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps([pattern, list(names)]).encode(),
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(message("datasets.expression-too-slow", seconds=seconds)) from None
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UsageError(message("datasets.expression-unusable", reason=last)) from None
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise UsageError(message("datasets.expression-invalid", error=answer["error"]))
    if not answer["groups"]:
        raise UsageError(message("datasets.expression-without-groups"))
    return tuple(answer["groups"]), answer["found"]
