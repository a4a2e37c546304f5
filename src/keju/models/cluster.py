"""`ClusterEngine`: a local engine on a Ray cluster, one instance on each node, with its weights."""

from __future__ import annotations

import hashlib
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from keju.clusters import Node, list_nodes, own_address, result_of, start_actor, start_ray
from keju.encoders.folder import best_device, weight_files
from keju.errors import DataError, KejuError, UsageError, describe_exception
from keju.files import sha256_file
from keju.items import Request
from keju.models.addresses import is_this_machine
from keju.models.base import Answer, AskError, Model, ModelOptions
from keju.models.registry import MODELS, open_model, role_of
from keju.object_stores import cache_folder
from keju.texts import _

_ATTEMPTS = 2
"""A page fails if an instance is lost this number of times while it reads the page."""

_PART = 16 << 20
"""Bytes of weights that are sent at a time, so that memory does not depend on their size."""

_ABANDONED = 24 * 3600
"""Seconds after which incomplete weights are those of a command that was killed."""

_BESIDE_WEIGHTS = {".jinja", ".json", ".txt"}
"""Files that the loaders of weights read; other formats of the weights stay here."""


class ClusterEngine(Model):
    """An engine whose instances answer on the nodes of a Ray cluster; its name is the engine's.

    The command reads the images and stores the responses, so nodes need neither the dataset nor the
    run. Weights that a node lacks are sent to it (`send_weights`). Ray restarts an instance that is
    lost and repeats its requests; the requests of a node that is lost are sent to the other nodes.

    Args:
        model: the model string of a local engine.
        options: as for the engine itself.
        address: of the cluster; by default that of RAY_ADDRESS, else one is started here.

    Raises:
        UsageError: the model is not a local engine, the cluster does not respond, or a node has
            another version of the engine or cannot store its weights.
        PrerequisiteError: the engine or Ray is not installed.
        DataError: the folder of weights does not contain such a model.
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
        hosts = {node.address for node in list_nodes()} - {own_address()}
        self.destinations = tuple(sorted(host for host in hosts if not is_this_machine(host)))
        self._actors = _start_actors(model, options)
        self._pages = self._check()
        self.concurrency = sum(self._pages.values())  # The pages that all instances read at a time.
        self._in_work: Counter[Node] = Counter()

    def unsupported_reason(self, request: Request) -> str:
        """Why the engine does not support this request, or an empty string."""
        return self._model.unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Answer one request on the instance with the least work.

        Raises:
            AskError: there is no answer, or no node is left.
        """
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
            if isinstance(result, Failure):
                raise AskError(result.kind, result.message, retryable=result.retryable)
            return msgspec.msgpack.decode(result, type=Answer)
        raise AskError("connection", _("no node of the Ray cluster is left for {}", self.name))

    async def close(self) -> None:
        """End the instances."""
        import ray  # noqa: PLC0415 - heavy, optional

        for actor in self._actors.values():
            ray.kill(actor)
        self._actors = {}
        await self._model.close()

    def _check(self) -> dict[Node, int]:
        """Return how many pages each instance reads at a time.

        Raises:
            UsageError: an instance cannot be made, or has another identity.
        """
        import ray  # noqa: PLC0415 - heavy, optional

        pages = {}
        instances = ray.get([actor.describe.remote() for actor in self._actors.values()])
        for node, (identity, concurrency, error) in zip(self._actors, instances, strict=True):
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
                    hint="Install the same versions on all machines",
                )
            pages[node] = concurrency
        return pages


def on_ray(
    models: Sequence[str | Model], options: ModelOptions, address: str = ""
) -> list[ClusterEngine]:
    """Local engines on a Ray cluster; arguments and errors are those of `ClusterEngine`."""
    return [ClusterEngine(model, options, address) for model in models]


def is_local_engine(spec: str) -> bool:
    """Whether a model string names an engine of keju that computes on this machine."""
    kind = spec.partition(":")[0]
    is_own = kind in MODELS and MODELS.plugin_of(kind) is None
    return is_own and role_of(spec) == "engine" and all(declared.local for declared in MODELS[kind])


def _start_actors(spec: str, options: ModelOptions) -> dict[Node, Any]:
    """Start an instance on each node, with its weights.

    Raises:
        UsageError: no node can run the engine, or a node cannot store the weights.
        DataError: the folder has no weights.
    """
    kind, __, folder = spec.partition(":")
    has_weights = any(declared.spelling.endswith(":DIR") for declared in MODELS[kind])
    gpu = False
    if has_weights:
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base

        gpu = best_device(torch) == "cuda"
        paths = send_weights(Path(folder).absolute(), list_nodes(gpu=gpu))
        specs = {node: f"{kind}:{path}" for node, path in paths.items()}
    else:
        specs = dict.fromkeys(list_nodes(), spec)
    if not specs:
        raise UsageError("no node of the Ray cluster is left for {}", spec)
    plain = ModelOptions(
        reading_order=options.reading_order, timeout=options.timeout, decoding=options.decoding
    )
    return {
        node: start_actor(
            _EngineActor, node, own_spec, plain, node.cores if has_weights else 0,
            gpu=gpu, attempts=_ATTEMPTS,
        )
        for node, own_spec in specs.items()
    }  # fmt: skip


class Failure(NamedTuple):
    """An error of an instance, as it is sent to the command."""

    kind: str
    message: str
    retryable: bool = False


class _EngineActor:
    """The actor: one engine, which is loaded with its first page.

    Args:
        spec: the model string.
        options: as for the engine itself.
        threads: of torch, since Ray gives an actor with one core one thread; 0 for other engines.
    """

    def __init__(self, spec: str, options: ModelOptions, threads: int) -> None:
        self._spec, self._options, self._threads = spec, options, threads
        self._model: Model | None = None

    async def describe(self) -> tuple[dict[str, str], int, str]:
        """The engine's identity, its concurrency, and why it cannot be used."""
        try:
            model = self._opened()
        except KejuError as error:
            return {}, 0, str(error)
        return dict(model.identity), model.concurrency, ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> bytes | Failure:
        """An answer in MessagePack, or a failure with the same text as on the command's machine.

        A pickled answer would be stored with fields that have their default.
        """
        try:
            return msgspec.msgpack.encode(await self._opened().answer(request, images))
        except AskError as error:
            return Failure(error.kind, str(error), error.retryable)
        except DataError as error:
            return Failure("unreadable-image", str(error))
        except Exception as error:  # noqa: BLE001 - as in the request runner
            is_own = isinstance(error, KejuError)
            return Failure("engine", str(error) if is_own else describe_exception(error)[:300])

    def _opened(self) -> Model:
        if self._model is None:
            self._model = open_model(self._spec, self._options)
            if self._threads:
                import torch  # noqa: PLC0415 - seconds to import, and absent from the base

                torch.set_num_threads(self._threads)
        return self._model


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
    import ray  # noqa: PLC0415 - heavy, optional

    hashes = _hashes(folder)
    stores = {node: start_actor(WeightStore, node, hashes, cores=0) for node in nodes}
    calls = {node: store.find.remote(str(folder)) for node, store in stores.items()}
    paths = _results(calls, folder)
    stores = {node: stores[node] for node, path in paths.items() if not path}
    for name in hashes if stores else ():
        with (folder / name).open("rb") as file:
            while part := file.read(_PART):
                sent = ray.put(part)
                writes = {node: store.write.remote(name, sent) for node, store in stores.items()}
                _results(writes, folder)
    paths |= _results({node: store.finish.remote() for node, store in stores.items()}, folder)
    return {node: Path(path) for node, path in paths.items() if path}


def _results(calls: Mapping[Node, Any], folder: Path) -> dict[Node, str]:
    """The results by node, without those of lost nodes.

    Raises:
        UsageError: a call failed.
    """
    results = {}
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
            results[node] = str(result)
    return results


def _hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of the files that a loader reads, by name.

    Raises:
        DataError: the folder has no weights.
    """
    others = [
        path for path in folder.iterdir() if path.suffix in _BESIDE_WEIGHTS and path.is_file()
    ]
    return {path.name: sha256_file(path) for path in sorted({*weight_files(folder), *others})}


class WeightStore:
    """The actor: the weights of one node.

    Each store writes into a folder of its own, since nodes may share a cache.

    Args:
        hashes: the SHA-256 of each file, by name.
    """

    def __init__(self, hashes: dict[str, str]) -> None:
        lines = "".join(f"{name} {digest}\n" for name, digest in sorted(hashes.items()))
        self._hashes = hashes
        self._place = cache_folder() / "weights" / hashlib.sha256(lines.encode()).hexdigest()
        self._partial = self._place.with_suffix(f".{uuid.uuid4().hex}.part")

    def find(self, folder: str) -> str:
        """The path of the same files on this node, or an empty string.

        Without them, the store is ready for `write`.
        """
        for path in (Path(folder), self._place):
            if self._has(path):
                return str(path)
        self._partial.mkdir(parents=True)
        for path in self._place.parent.glob("*.part"):
            if path.stat().st_mtime < time.time() - _ABANDONED:
                shutil.rmtree(path, ignore_errors=True)
        return ""

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
        if self._has(self._place):  # Another store of this cache was faster.
            shutil.rmtree(self._partial)
        else:
            shutil.rmtree(self._place, ignore_errors=True)
            self._partial.replace(self._place)
        return str(self._place)

    def _has(self, folder: Path) -> bool:
        try:
            return _hashes(folder) == self._hashes
        except (DataError, OSError):
            return False
