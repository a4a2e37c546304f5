"""`Interruption`: stop a run by Ctrl-C, by SIGTERM or from another thread."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from threading import Lock

from keju.console import Console
from keju.running.sending import Sender
from keju.texts import n_


class Interruption:
    """Stops a run: the first interruption stops sending, the second does not wait for responses.

    Args:
        signals: whether SIGINT and SIGTERM interrupt; false inside an event loop of the caller's.
    """

    def __init__(self, *, signals: bool = True) -> None:
        self._signals = (signal.SIGINT, signal.SIGTERM) if signals else ()
        self._lock = Lock()
        self._act: Callable[[], object] = int
        self.count = 0

    def interrupt(self) -> None:
        """Interrupt the run, from any thread, also before a request is sent."""
        with self._lock:
            self.count += 1
            self._act()

    @contextmanager
    def watching(
        self, sender: Sender, task: asyncio.Task[None], console: Console | None
    ) -> Iterator[None]:
        """Let interruptions stop the sender, and then cancel its task."""
        loop = asyncio.get_running_loop()

        def act() -> None:
            if self.count > 1:
                task.cancel()
                return
            sender.stop()
            if console and sender.in_flight:
                console.print(
                    n_(
                        "Stopping. Waiting for {n:,} answer under way; press Ctrl-C again to "
                        "stop without them.",
                        "Stopping. Waiting for {n:,} answers under way; press Ctrl-C again to "
                        "stop without them.",
                        sender.in_flight,
                    ),
                    highlight=False,
                    soft_wrap=True,
                )

        with self._lock:
            self._act = lambda: loop.call_soon_threadsafe(act)
        if self.count:
            act()
        try:
            with ExitStack() as handlers:
                # Not available outside the main thread; there Ctrl-C cancels at once.
                with suppress(RuntimeError, ValueError):
                    for number in self._signals:
                        handlers.callback(self._handle(loop, number))
                yield
        finally:
            with self._lock:
                self._act = int

    def _handle(
        self, loop: asyncio.AbstractEventLoop, number: signal.Signals
    ) -> Callable[[], object]:
        """Install a handler of a signal; the result removes it."""
        try:
            loop.add_signal_handler(number, self.interrupt)
        except NotImplementedError:  # on Windows
            before = signal.signal(number, lambda *_: loop.call_soon_threadsafe(self.interrupt))
            return partial(signal.signal, number, before)
        return partial(loop.remove_signal_handler, number)
