from collections.abc import Iterator

import pytest
from serving import Chat


@pytest.fixture(scope="session")
def chat() -> Iterator[Chat]:
    """A misbehaving chat server in a process of its own."""
    server = Chat()
    yield server
    server.stop()
