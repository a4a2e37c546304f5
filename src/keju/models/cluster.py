"""`ClusterEngine`: a local engine on a Ray cluster, one instance on each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec

from keju.clusters import start_ray
from keju.encoders.weights import best_device
from keju.errors import DataError, KejuError, UsageError
from keju.items import Request
from keju.models.base import Answer, AskError, Model, ModelOptions
from keju.models.endpoints import is_this_machine
from keju.models.registry import MODELS, open_model, role_of
from keju.texts import _

_ATTEMPTS = 2
"""A page fails if an instance is lost this number of times while it reads the page."""


class ClusterEngine(Model):
    """An engine whose instances answer on the nodes of a Ray cluster; its name is the engine's.

    The command reads the images and stores the responses, so nodes need neither the dataset nor the
    run. An engine with weights needs their folder at the same path on every node. Ray restarts an
    instance that is lost and repeats its requests; the requests of a node that is lost are sent to
    the other nodes.

    Args:
        model: the model string of a local engine.
        options: as for the engine itself.
        address: of the cluster; by default that of RAY_ADDRESS, else one is started here.

    Raises:
        UsageError: the model is not a local engine, the cluster does not respond, or the engine of
            a node cannot be opened or has another version or other weights.
    """

    def __init__(self, model: str | Model, options: ModelOptions, address: str = "") -> None:
        if not isinstance(model, str) or not is_local_engine(model):
            raise UsageError(
                "{} does not run on a Ray cluster. --engine ray is for ppocr, tesseract and "
                "got:DIR",
                model if isinstance(model, str) else model.name,
            )
        self._model = open_model(model, options)
        self.name = self._model.name
        self.identity = dict(self._model.identity)
        start_ray(address)
        self._actors: dict[str, Any] = {}
        self._pages: dict[str, int] = {}  # that each instance reads at a time
        self._in_work: Counter[str] = Counter()
        self._start_instances(model, options)
        self.concurrency = sum(self._pages.values())

    def unsupported_reason(self, request: Request) -> str:
        """Why the engine does not support this request, or an empty string."""
        return self._model.unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Answer one request on the instance with the least work."""
        from ray.exceptions import (  # noqa: PLC0415 - heavy, optional
            ActorUnavailableError,
            ActorUnschedulableError,
            RayActorError,
        )

        data = list(images)
        while self._actors:
            node = min(self._actors, key=lambda node: self._in_work[node] / self._pages[node])
            self._in_work[node] += 1
            try:
                result = await self._actors[node].answer.remote(request, data)
            except ActorUnavailableError:
                problem = _("the engine was lost {} times while it read the page", _ATTEMPTS)
                raise AskError("engine", problem) from None
            except (RayActorError, ActorUnschedulableError):  # The node is lost.
                self._actors.pop(node, None)
                continue
            finally:
                self._in_work[node] -= 1
            if isinstance(result, tuple):
                kind, message, retryable = result
                raise AskError(kind, message, retryable=retryable)
            return msgspec.msgpack.decode(result, type=Answer)
        raise AskError("connection", _("no node of the Ray cluster is left for {}", self.name))

    async def close(self) -> None:
        """End the instances."""
        import ray  # noqa: PLC0415 - heavy, optional

        for actor in self._actors.values():
            ray.kill(actor)
        self._actors = {}
        await self._model.close()

    def _start_instances(self, spec: str, options: ModelOptions) -> None:
        """Start an instance on each live node and check it.

        One with weights is started only on nodes with a GPU, if this machine has one. An instance
        ends with the process that started it. Ray restarts it on its node only.
        """
        import ray  # noqa: PLC0415 - heavy, optional
        from ray.util.scheduling_strategies import (  # noqa: PLC0415 - as above
            NodeAffinitySchedulingStrategy,
        )

        cluster: Any = ray
        has_weights = any(":DIR" in kind.spelling for kind in MODELS[spec.partition(":")[0]])
        gpus = 0
        if has_weights:
            import torch  # noqa: PLC0415 - seconds to import, and absent from the base

            gpus = int(best_device(torch) == "cuda")
        hosts = set()
        for node in cluster.nodes():
            address, resources = node["NodeManagerAddress"], node["Resources"]
            cores = int(resources.get("CPU", 0))
            if not node["Alive"] or not cores or resources.get("GPU", 0) < gpus:
                continue
            placed = cluster.remote(_EngineActor).options(
                num_cpus=1,
                num_gpus=gpus,
                max_restarts=-1,
                max_task_retries=_ATTEMPTS - 1,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            )
            hosts.add(address)
            # Nodes may share an address.
            name = f"{address} ({node['NodeID'][:8]})"
            self._actors[name] = placed.remote(spec, options, cores if has_weights else 0)
        if not self._actors:
            raise UsageError("no node of the Ray cluster is left for {}", spec)
        other_hosts = hosts - {cluster.util.get_node_ip_address()}
        self.destinations = tuple(sorted(host for host in other_hosts if not is_this_machine(host)))
        described = {node: actor.describe.remote() for node, actor in self._actors.items()}
        for node, description in described.items():
            identity, self._pages[node], error = cluster.get(description)
            if error:
                raise UsageError(
                    "the node {} of the Ray cluster cannot run the engine: {}", node, error
                )
            if different := sorted(dict(identity.items() ^ self.identity.items())):
                raise UsageError(
                    "{0} on the node {1} differs from {0} on this machine in {2}",
                    self.name,
                    node,
                    different[0],
                    hint="Install the same versions and weights on all machines",
                )


def on_ray(
    models: Sequence[str | Model], options: ModelOptions, address: str = ""
) -> list[ClusterEngine]:
    """Local engines on a Ray cluster, see `ClusterEngine`."""
    return [ClusterEngine(model, options, address) for model in models]


def is_local_engine(spec: str) -> bool:
    """Whether a model string names an engine of keju that computes on this machine."""
    kind = spec.partition(":")[0]
    is_own = kind in MODELS and MODELS.plugin_of(kind) is None
    return is_own and role_of(spec) == "engine" and all(declared.local for declared in MODELS[kind])


class _EngineActor:
    """The actor: one engine, which is loaded with its first page.

    `threads` are those of torch, since Ray gives an actor with one core one thread; 0 for other
    engines.
    """

    def __init__(self, spec: str, options: ModelOptions, threads: int) -> None:
        self._spec, self._options, self._threads = spec, options, threads

    async def describe(self) -> tuple[dict[str, str], int, str]:
        """The engine's identity, its concurrency, and why it cannot be used."""
        try:
            return dict(self._model.identity), self._model.concurrency, ""
        except KejuError as error:
            return {}, 0, str(error)

    async def answer(
        self, request: Request, images: Sequence[bytes]
    ) -> bytes | tuple[str, str, bool]:
        """An answer in MessagePack, or the kind, message and retryability of a failure.

        A pickled answer would be stored with fields that have their default.
        """
        try:
            return msgspec.msgpack.encode(await self._model.answer(request, images))
        except AskError as error:
            return error.kind, str(error), error.retryable
        except DataError as error:
            return "unreadable-image", str(error), False
        except KejuError as error:  # The engine cannot be opened again after its process ended.
            return "engine", str(error), False

    @cached_property
    def _model(self) -> Model:
        model = open_model(self._spec, self._options)
        if self._threads:
            import torch  # noqa: PLC0415 - seconds to import, and absent from the base

            torch.set_num_threads(self._threads)
        return model
