"""A server with batch endpoints for each process of the tests, which forgets between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.serving import Chat


class BatchChat(Chat):
    """A running chat server with batch endpoints."""

    def __init__(self) -> None:
        super().__init__("batch_server")
        self.begin()

    def begin(self) -> None:
        """Forget the earlier tests, and end the batches that they left."""
        self.plan()
        self.post("work", {})
        self.plan()
        self._earlier = self.get("seen")

    def seen(self) -> dict[str, Any]:
        """The lines of each file that was uploaded since then, and the number of batches."""
        now = self.get("seen")
        return {
            "uploads": now["uploads"][len(self._earlier["uploads"]) :],
            "batches": now["batches"] - self._earlier["batches"],
        }


@pytest.fixture(scope="session")
def batch_chat() -> Iterator[BatchChat]:
    server = BatchChat()
    yield server
    server.stop()


@pytest.fixture
def server(batch_chat: BatchChat) -> BatchChat:
    batch_chat.begin()
    return batch_chat
