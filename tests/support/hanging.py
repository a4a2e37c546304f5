"""`ends`: a call that must not hang, in a fork of this process with a limit of processor time.

Tests assert no speed, which depends on the machine; benchmarks measure it. The limit is many times
what a call needs, and far below what one needs whose time grows with the square of its input.
"""

from __future__ import annotations

import os
import resource
import traceback
from collections.abc import Callable

SECONDS = 60
"""Of the processor, so that a busy machine does not matter."""


def ends(call: Callable[[], object], seconds: int = SECONDS) -> None:
    """Assert that a call returns within its processor time, and raises nothing.

    Args:
        call: what is executed, in a child process: it changes nothing here.
        seconds: of the processor.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + seconds,) * 2)
            call()
            code = 0
        except BaseException:  # noqa: BLE001 - as Python itself does
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code >= 0, f"ended by signal {-code}: more than {seconds} s of processor time"
    assert code == 0, "the call raised: see stderr"
