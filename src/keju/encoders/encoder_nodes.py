"""`EncoderNodes`: one process on each node of a Ray cluster, which computes batches of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from keju.clusters import Node, list_nodes, result_of, start_actor, start_ray
from keju.encoders.sent_weights import send_weights
from keju.encoders.text import Device, Pooling, Precision, TextEncoder, Vector
from keju.errors import KejuError, UsageError, describe_exception
from keju.messages import message

_QUEUED = 2
"""Batches that a node has at a time: it computes one while the next one is sent."""

_AHEAD = 8
"""Batches for each node that may be finished before the one that is due next."""

_ATTEMPTS = 3
"""A batch that was on this number of nodes when they were lost ends the command."""

Batch = Sequence[Sequence[int]]
"""Token sequences that go through the model together."""


class EncoderNodes:
    """The processes of a cluster that encode; they are started when an encoder is opened.

    A batch of a process that is lost is computed by another one.

    Args:
        address: the address of the cluster (default: RAY_ADDRESS, else a cluster on this machine).

    Raises:
        UsageError: the cluster does not respond.
        PrerequisiteError: Ray is not installed.
    """

    def __init__(self, address: str) -> None:
        start_ray(address)
        self._actors: dict[Node, Any] = {}
        self._started = False
        self._opened: set[str] = set()

    def open(self, encoder: TextEncoder) -> None:
        """Open an encoder on all nodes, unless it is open there; its weights are sent if need be.

        Raises:
            UsageError: a node lacks the weights or the packages, or has others; or no node is left.
        """
        if encoder.weights_hash in self._opened:
            return
        self._start(gpu=encoder.device == "cuda")
        folders = send_weights(encoder.folder, list(self._actors))
        self._actors = {node: each for node, each in self._actors.items() if node in folders}
        self._check_left()
        calls = {
            node: actor.open.remote(
                str(folders[node]), encoder.weights_hash, encoder.device, encoder.precision
            )
            for node, actor in self._actors.items()
        }
        for node, call in calls.items():
            if (found := self._result(node, call)) is None:
                continue
            if found.error:
                raise UsageError(
                    message(
                        "encoders.node-fails", node=node, folder=encoder.folder, error=found.error
                    )
                )
            if found.transformers != version("transformers"):
                raise UsageError(
                    message("encoders.node-differs", node=node, version=found.transformers)
                )
        self._opened.add(encoder.weights_hash)

    def encode(
        self, encoder: TextEncoder, batches: Sequence[Batch], *, pooling: Pooling, layer: int
    ) -> Iterator[list[Vector]]:
        """The results of batches in their order; see `TextEncoder.passes`.

        Raises:
            UsageError: no node is left, a batch was on too many lost nodes, or a node failed.
        """
        import ray  # noqa: PLC0415 - heavy, optional

        queue = _Queue(len(batches))
        running: dict[Any, tuple[Node, int]] = {}
        done: dict[int, list[Vector]] = {}
        while queue.due < len(batches):
            for node, at in self._assign(queue, [node for node, _ in running.values()]):
                call = self._actors[node].encode.remote(
                    encoder.weights_hash, batches[at], pooling, layer
                )
                running[call] = (node, at)
            call = ray.wait(list(running), num_returns=1)[0][0]
            node, at = running.pop(call)
            rows = self._result(node, call)
            if rows is None:
                queue.put_back(at)
            else:
                # A copy, since Ray cannot free the memory of arrays that are in use.
                done[at] = [np.array(row) for row in rows]
            while queue.due in done:
                yield done.pop(queue.due)
                queue.due += 1

    def close(self) -> None:
        """End the processes."""
        import ray  # noqa: PLC0415 - heavy, optional

        for actor in self._actors.values():
            ray.kill(actor)
        self._actors = {}
        self._started = False
        self._opened.clear()

    def _start(self, *, gpu: bool) -> None:
        if not self._started:
            self._actors = {
                node: start_actor(_EncoderActor, node, node.cores, gpu=gpu)
                for node in list_nodes(gpu=gpu)
            }
            self._started = True
        self._check_left()

    def _check_left(self) -> None:
        if not self._actors:
            raise UsageError(message("encoders.no-node-left"))

    def _assign(self, queue: _Queue, busy: Sequence[Node]) -> Iterator[tuple[Node, int]]:
        """Give batches to the nodes that can take one, in turn."""
        limit = queue.due + _AHEAD * len(self._actors)
        for turn in range(_QUEUED):
            for node in self._actors:
                if busy.count(node) <= turn and (at := queue.take(limit)) is not None:
                    yield node, at

    def _result(self, node: Node, call: Any) -> Any:  # noqa: ANN401 - of any method
        """The result of a call, or None if its node was lost.

        Raises:
            UsageError: the call failed, or no node is left.
        """
        try:
            found = result_of(call)
        except Exception as error:  # noqa: BLE001 - an encoder may raise anything
            words = describe_exception(error)[:300]
            raise UsageError(message("encoders.node-failed", node=node, error=words)) from None
        if found is None:
            self._actors.pop(node, None)
            self._check_left()
        return found


class _Queue:
    """The indices of batches: in order, and before them those of lost nodes.

    Args:
        total: the number of batches.

    Attributes:
        due: the batch whose result is used next.
    """

    def __init__(self, total: int) -> None:
        self.due = 0
        self._total = total
        self._next = 0
        self._again: list[int] = []
        self._lost: dict[int, int] = {}

    def take(self, limit: int) -> int | None:
        """The next batch below a limit, or None."""
        if self._again:
            return self._again.pop()
        if self._next < min(limit, self._total):
            self._next += 1
            return self._next - 1
        return None

    def put_back(self, at: int) -> None:
        """Put back a batch whose node was lost.

        Raises:
            UsageError: it was on too many lost nodes.
        """
        self._lost[at] = self._lost.get(at, 0) + 1
        if self._lost[at] == _ATTEMPTS:
            raise UsageError(message("encoders.nodes-lost", count=_ATTEMPTS))
        self._again.append(at)


class _Opened(NamedTuple):
    """Why an encoder cannot be used on a node, and the version of its library there."""

    error: str = ""
    transformers: str = ""


class _EncoderActor:
    """The actor: the encoders of one node, which use all of its cores."""

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._encoders: dict[str, TextEncoder] = {}

    def open(self, folder: str, weights_hash: str, device: Device, precision: Precision) -> _Opened:
        """Load an encoder from a folder of this machine."""
        try:
            encoder = TextEncoder(Path(folder), device=device, precision=precision)
        except KejuError as error:
            return _Opened(str(error))
        if encoder.weights_hash != weights_hash:
            return _Opened(message("encoders.weights-differ"))
        import torch  # noqa: PLC0415 - seconds to import

        # Ray gives an actor with one core one thread.
        torch.set_num_threads(self._cores)
        self._encoders[weights_hash] = encoder
        return _Opened(transformers=version("transformers"))

    def encode(self, weights_hash: str, batch: Batch, pooling: Pooling, layer: int) -> list[Vector]:
        """The result of one batch."""
        return next(self._encoders[weights_hash].passes([batch], pooling=pooling, layer=layer))
