"""`send_weights`: a folder of weights on the nodes of a Ray cluster, sent once to each node."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from keju.clusters import Node, result_of, start_actor
from keju.encoders.folder import weight_files
from keju.errors import DataError, UsageError
from keju.files import sha256_file
from keju.object_stores import cache_folder

_PART = 16 << 20
"""Bytes that are sent at a time, so that memory does not depend on the size of the weights."""

_UNDER_WAY = 2
"""Parts that are sent before the first one is stored."""

_BEGUN, _BUSY = "begun", "busy"
"""States of a store that has no path of the files yet."""

_SUFFIXES = {".jinja", ".json", ".txt"}
"""Files beside the weights that their loaders read; other formats of the weights stay here."""


def send_weights(folder: Path, nodes: Sequence[Node]) -> dict[Node, Path]:
    """Provide a folder of weights on nodes, and return its path on each.

    A node uses its own folder at the same path if its files have the same SHA-256. Otherwise the
    files are sent into ``weights/<hash>`` of the node's cache (``KEJU_CACHE``), where later
    commands find them; files there are compared by hash as well.

    Args:
        folder: the weights in safetensors, with configuration and tokenizer.
        nodes: the nodes; one that is lost meanwhile is not in the result.

    Raises:
        DataError: the folder has no weights.
        UsageError: a node cannot store the files.
    """
    hashes = _hashes(folder)
    stores = {node: start_actor(WeightStore, node, hashes, cores=0) for node in nodes}
    calls = {node: each.find.remote(str(folder)) for node, each in stores.items()}
    found = _results(calls, folder)
    places = {node: path for node, path in found.items() if path}
    lacking = [node for node, path in found.items() if not path]
    while lacking:
        begun, busy = dict[Node, Any](), list[Node]()
        for node in lacking:
            # Wait only while nothing is begun here: nodes may share a cache, with those of other
            # commands too, and would then wait for each other.
            call = stores[node].begin.remote(wait=not begun)
            for state in _results({node: call}, folder).values():
                if state == _BEGUN:
                    begun[node] = stores[node]
                elif state == _BUSY:
                    busy.append(node)
                else:
                    places[node] = state
        _send(folder, hashes, begun)
        places |= _results({node: each.finish.remote() for node, each in begun.items()}, folder)
        lacking = busy
    return {node: Path(path) for node, path in places.items()}


def _send(folder: Path, hashes: Mapping[str, str], stores: Mapping[Node, Any]) -> None:
    """Send all files to stores, part by part.

    Raises:
        UsageError: a node cannot store them.
    """
    import ray  # noqa: PLC0415 - heavy, optional

    under_way = []
    for name, part in _parts(folder, hashes):
        sent = ray.put(part)
        under_way.append({node: each.write.remote(name, sent) for node, each in stores.items()})
        if len(under_way) == _UNDER_WAY:
            _results(under_way.pop(0), folder)
    for calls in under_way:
        _results(calls, folder)


def _results(calls: Mapping[Node, Any], folder: Path) -> dict[Node, str]:
    """The results by node, without those of lost nodes.

    Raises:
        UsageError: a call failed.
    """
    found = {}
    for node, call in calls.items():
        try:
            result = result_of(call)
        except OSError as error:
            raise UsageError(
                "the weights in {} cannot be stored on the node {} of the Ray cluster: {}",
                folder,
                node,
                error,
                hint=(
                    "Free disk space in the cache (KEJU_CACHE) of the node, or copy the folder "
                    "to the same path there"
                ),
            ) from None
        if result is not None:
            found[node] = str(result)
    return found


def _parts(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for name in names:
        with (folder / name).open("rb") as file:
            while part := file.read(_PART):
                yield name, part


def _hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of the files that a loader reads, by name.

    Raises:
        DataError: the folder has no weights.
    """
    beside = [each for each in folder.iterdir() if each.suffix in _SUFFIXES and each.is_file()]
    files = sorted({*weight_files(folder), *beside})
    return {each.name: sha256_file(each) for each in files}


class WeightStore:
    """The actor: the weights of one node.

    Args:
        hashes: the SHA-256 of each file, by name.
    """

    def __init__(self, hashes: dict[str, str]) -> None:
        lines = "".join(f"{name} {digest}\n" for name, digest in sorted(hashes.items()))
        self._hashes = hashes
        self._place = cache_folder() / "weights" / hashlib.sha256(lines.encode()).hexdigest()
        self._partial = self._place.with_suffix(".part")
        self._lock = FileLock(self._place.with_suffix(".lock"))

    def find(self, folder: str) -> str:
        """The path of the same files on this node, or an empty string."""
        return next((str(each) for each in (Path(folder), self._place) if self._has(each)), "")

    def begin(self, *, wait: bool) -> str:
        """Begin to store the files, unless they are there or another store is storing them.

        Args:
            wait: wait until no other store is storing them.

        Returns:
            Their path if they are there, else `_BEGUN` or `_BUSY`.
        """
        self._place.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=-1 if wait else 0)
        except Timeout:
            return _BUSY
        if self._has(self._place):
            self._lock.release()
            return str(self._place)
        for each in (self._partial, self._place):
            shutil.rmtree(each, ignore_errors=True)
        self._partial.mkdir()
        return _BEGUN

    def write(self, name: str, part: bytes) -> None:
        """Append a part to a file."""
        if name not in self._hashes or Path(name).name != name:
            raise ValueError(name)
        with (self._partial / name).open("ab") as file:
            file.write(part)

    def finish(self) -> str:
        """The path of the files, once all are complete.

        Raises:
            OSError: they are not those that were sent.
        """
        for name in self._hashes:
            (self._partial / name).touch()
        if not self._has(self._partial):
            raise OSError(str(self._partial))
        self._partial.replace(self._place)
        self._lock.release()
        return str(self._place)

    def _has(self, folder: Path) -> bool:
        try:
            return _hashes(folder) == self._hashes
        except (DataError, OSError):
            return False
