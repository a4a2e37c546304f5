"""`ClusterEngine`: a local engine on a Ray cluster, one instance on each node."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from keju.clusters import Node, list_nodes, own_address, start_actor, start_ray
from keju.encoders.loading import best_device
from keju.errors import (
    DataError,
    KejuError,
    PrerequisiteError,
    UsageError,
    describe_exception,
)
from keju.items import Request
from keju.models.addresses import is_this_machine
from keju.models.base import Answer, AskError, Model, ModelOptions
from keju.models.capabilities import Capabilities
from keju.models.declarations import MODELS, Kinds
from keju.models.registry import open_model, role_of
from keju.models.sent_weights import send_weights
from keju.texts import _

_CALLS = 64
"""The most pages that Ray lets one instance read at a time; each instance has its own limit."""

_ATTEMPTS = 2
"""A page that was in work on this number of instances when they were lost fails."""


def on_ray(
    models: Sequence[str | Model], options: ModelOptions, address: str = ""
) -> list[ClusterEngine]:
    """Local engines on a Ray cluster.

    Args:
        models: their model strings.
        options: as for the engines themselves.
        address: of the cluster; by default that of RAY_ADDRESS, else one is started here.

    Raises:
        UsageError, PrerequisiteError: as of `ClusterEngine`; a model is an object.
    """
    for model in models:
        if not isinstance(model, str):
            raise UsageError(
                "{} does not run on a Ray cluster. --engine ray is for ppocr, tesseract and "
                "got:DIR",
                model.name,
            )
    return [ClusterEngine(str(model), options, address) for model in models]


class Failure(NamedTuple):
    """An `AskError` or another error of an instance, as it is sent to the command."""

    kind: str
    words: str
    retryable: bool = False


class ClusterEngine:
    """An engine whose instances answer on the nodes of a Ray cluster; its name is the engine's.

    The command reads the images and stores the responses, so nodes need neither the dataset nor the
    run. Weights that a node lacks are sent to it (`send_weights`). A request of an instance that is
    lost is sent to another one.

    Args:
        spec: the model string of a local engine.
        options: as for the engine itself.
        address: of the cluster; by default that of RAY_ADDRESS, else one is started here.

    Raises:
        UsageError: the model is not a local engine, the cluster does not respond, or a node has
            another version of the engine or cannot store its weights.
        PrerequisiteError: the engine or Ray is not installed.
        DataError: the folder of weights does not contain such a model.
    """

    def __init__(self, spec: str, options: ModelOptions, address: str = "") -> None:
        if not is_local_engine(spec):
            raise UsageError(
                "{} does not run on a Ray cluster. --engine ray is for ppocr, tesseract and "
                "got:DIR",
                spec,
            )
        self._model = open_model(spec, options)
        self._identity = self._model.identity
        start_ray(address)
        self._hosts = _other_hosts()
        self._alive = {each.node: each for each in _start_instances(spec, options)}
        self._free: asyncio.Queue[_Instance] | None = None
        self._slots = self._check()

    @property
    def name(self) -> str:
        """The model string."""
        return self._model.name

    @property
    def identity(self) -> dict[str, str]:
        """The engine's identity, which is the same on all nodes."""
        return dict(self._identity)

    @property
    def capabilities(self) -> Capabilities:
        """Its time is not measured here; nodes other than this machine receive images."""
        return Capabilities(elsewhere=True, destinations=self._hosts)

    @property
    def concurrency(self) -> int:
        """The number of pages that all instances read concurrently."""
        return sum(self._slots.values())

    def unsupported_reason(self, request: Request) -> str:
        """Why the engine does not support this request, or an empty string."""
        return self._model.unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Answer one request on the next free instance.

        Raises:
            AskError: there is no answer, or no instance is left.
        """
        from ray.exceptions import RayActorError  # noqa: PLC0415 - heavy, optional

        data = list(images)
        for __ in range(_ATTEMPTS):
            instance = await self._take()
            try:
                found = await instance.actor.answer.remote(request, data)
            except RayActorError:
                self._alive.pop(instance.node, None)
                continue
            finally:
                self._give_back(instance)
            if isinstance(found, Failure):
                raise AskError(found.kind, found.words, retryable=found.retryable)
            return msgspec.msgpack.decode(found, type=Answer)
        raise AskError(
            "engine", _("{} instances of the engine were lost while they read the page", _ATTEMPTS)
        )

    async def close(self) -> None:
        """End the instances."""
        import ray  # noqa: PLC0415 - heavy, optional

        for instance in self._alive.values():
            ray.kill(instance.actor)
        self._alive = {}
        await self._model.close()

    def _check(self) -> dict[Node, int]:
        """Return how many pages each instance reads at a time.

        Raises:
            UsageError: an instance cannot be made, or has another identity.
        """
        import ray  # noqa: PLC0415 - heavy, optional

        found = ray.get([each.actor.describe.remote() for each in self._alive.values()])
        for node, (identity, __, error) in zip(self._alive, found, strict=True):
            if error:
                raise UsageError(
                    "the node {} of the Ray cluster cannot run the engine: {}", node, error
                )
            if identity != self._identity:
                unlike = sorted(
                    key
                    for key in self._identity.keys() | identity.keys()
                    if self._identity.get(key) != identity.get(key)
                )
                raise UsageError(
                    "{0} on the node {1} differs from {0} on this machine in {2}",
                    self.name,
                    node,
                    unlike[0],
                    hint="Install the same versions on all machines",
                )
        return {
            node: concurrency for node, (_, concurrency, _) in zip(self._alive, found, strict=True)
        }

    async def _take(self) -> _Instance:
        """Wait for a free instance that is not lost.

        Raises:
            AskError: none is left.
        """
        if self._free is None:
            self._free = asyncio.Queue()
            # In turn, so that a few requests already use all nodes.
            for turn in range(max(self._slots.values())):
                for instance in self._alive.values():
                    if turn < self._slots[instance.node]:
                        self._free.put_nowait(instance)
        while self._alive:
            instance = await self._free.get()
            if instance.node in self._alive:
                return instance
        self._free.put_nowait(_LOST)  # Ends the wait of the other requests.
        raise AskError("connection", _("no node of the Ray cluster is left for {}", self.name))

    def _give_back(self, instance: _Instance) -> None:
        if self._free is not None:
            self._free.put_nowait(instance)


class _Instance(NamedTuple):
    """An instance: its node, and the handle of its actor."""

    node: Node
    actor: Any


_LOST = _Instance(Node("", "", 0, 0), None)


class _EngineActor:
    """The actor: one engine, which is loaded with its first page.

    Args:
        spec: the model string.
        options: as for the engine itself.
        threads: of torch, since Ray gives an actor with one core one thread; 0 for other engines.
    """

    def __init__(self, spec: str, options: ModelOptions, threads: int) -> None:
        self._error = ""
        try:
            self._model: Model = open_model(spec, options)
        except KejuError as error:
            self._error = str(error)
            return
        if threads:
            import torch  # noqa: PLC0415 - seconds to import, and absent from the base

            torch.set_num_threads(threads)

    async def describe(self) -> tuple[dict[str, str], int, str]:
        """The engine's identity, its concurrency, and why it cannot be used."""
        if self._error:
            return {}, 0, self._error
        return self._model.identity, self._model.concurrency, ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> bytes | Failure:
        """An answer in MessagePack, or a failure with the same words as on the command's machine.

        A pickled answer would be stored with fields that have their default.
        """
        try:
            return msgspec.msgpack.encode(await self._model.answer(request, images))
        except AskError as error:
            return Failure(error.kind, str(error), error.retryable)
        except DataError as error:
            return Failure("unreadable-image", str(error))
        except (PrerequisiteError, UsageError) as error:
            return Failure("engine", str(error))
        except Exception as error:  # noqa: BLE001 - as in the request runner
            return Failure("engine", describe_exception(error)[:300])


def is_local_engine(spec: str) -> bool:
    """Whether a model string names an engine of keju that computes on this machine."""
    kind = spec.partition(":")[0]
    own = kind in MODELS and MODELS.get_plugin(kind) is None
    return own and role_of(spec) == "engine" and all(each.local for each in MODELS[kind])


def _other_hosts() -> tuple[str, ...]:
    """The addresses of the cluster's nodes that are not this machine."""
    own = own_address()
    found = {node.address for node in list_nodes()}
    return tuple(sorted(host for host in found if host != own and not is_this_machine(host)))


def _start_instances(spec: str, options: ModelOptions) -> list[_Instance]:
    """Start an instance on each node, with its weights.

    Raises:
        UsageError: no node can run the engine, or a node cannot store the weights.
        DataError: the folder has no weights.
    """
    weights = _weights_of(spec)
    gpu = weights is not None and _on_gpu()
    nodes = list_nodes(gpu=gpu)
    if weights is None:
        specs = dict.fromkeys(nodes, spec)
    else:
        kind = spec.partition(":")[0]
        specs = {node: f"{kind}:{path}" for node, path in send_weights(weights, nodes).items()}
    if not specs:
        raise UsageError("no node of the Ray cluster is left for {}", spec)
    plain = ModelOptions(
        reading_order=options.reading_order, timeout=options.timeout, decoding=options.decoding
    )
    return [
        _Instance(
            node,
            start_actor(
                _EngineActor,
                node,
                own,
                plain,
                node.cores if weights else 0,
                gpu=gpu,
                concurrency=_CALLS,
            ),
        )
        for node, own in specs.items()
    ]


def _weights_of(spec: str) -> Path | None:
    """The folder of weights that a model string names; None if it names none."""
    kind, __, folder = spec.partition(":")
    return Path(folder).absolute() if _takes_folder(MODELS[kind]) else None


def _takes_folder(kinds: Kinds) -> bool:
    return any(each.spelling.endswith(":DIR") for each in kinds)


def _on_gpu() -> bool:
    import torch  # noqa: PLC0415 - seconds to import, and absent from the base

    return best_device(torch) == "cuda"
