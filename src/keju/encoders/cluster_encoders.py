"""`ClusterEncoders`: encoders on a Ray cluster, one process on each node; the cache stays here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from keju.encoders.encoder_nodes import EncoderNodes
from keju.encoders.encoders import Encoders
from keju.encoders.text import Device, Pooling, Precision, TextEncoder, Vector


def open_encoders(
    paths: Mapping[str, Path],
    cache: Path | None = None,
    *,
    engine: Literal["native", "ray"] = "native",
    address: str = "",
) -> Encoders:
    """The encoders of this machine (``native``), or those of a Ray cluster (``ray``).

    Args:
        paths: as for `Encoders`.
        cache: as for `Encoders`.
        engine: where texts are encoded.
        address: of the cluster; by default that of RAY_ADDRESS, else one is started here.

    Raises:
        UsageError, PrerequisiteError: as `ClusterEncoders`.
    """
    return (
        ClusterEncoders(paths, cache, address=address)
        if engine == "ray"
        else Encoders(paths, cache)
    )


class ClusterEncoders(Encoders):
    """Encoders whose batches of texts are computed on the nodes of a Ray cluster.

    Texts are tokenised here, token ids go to the nodes, and vectors come back into the cache of
    this machine. Batches are those of one machine, nodes use the kind of device and the precision
    of this one, and results are used in the same order. The vectors are therefore the same, up to
    the rounding of processors or numbers of threads that differ (about 1e-7). Nodes get work once
    a text is not in the cache.

    Args:
        paths: as for `Encoders`.
        cache: as for `Encoders`.
        address: of the cluster; by default that of RAY_ADDRESS, else one is started here.
        device: as for `Encoders`.
        precision: as for `Encoders`.

    Raises:
        UsageError: the cluster does not respond.
        PrerequisiteError: Ray is not installed.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        cache: Path | None = None,
        *,
        address: str = "",
        device: Device = "auto",
        precision: Precision = "auto",
    ) -> None:
        super().__init__(paths, cache, device=device, precision=precision)
        self._nodes = EncoderNodes(address)

    def close(self) -> None:
        """Close the cache and end the processes on the nodes."""
        super().close()
        self._nodes.close()

    def _encoder_at(self, folder: Path) -> TextEncoder:
        return _ClusterEncoder(self._nodes, folder, device=self.device, precision=self.precision)


class _ClusterEncoder(TextEncoder):
    """A text encoder without its model, whose batches are computed on the nodes."""

    def __init__(
        self, nodes: EncoderNodes, folder: Path, *, device: Device, precision: Precision
    ) -> None:
        super().__init__(folder, device=device, precision=precision)
        self._nodes = nodes

    def _load(self) -> Any:  # noqa: ANN401 - as in the base class
        return None

    def passes(
        self, batches: Sequence[Sequence[Sequence[int]]], *, pooling: Pooling, layer: int
    ) -> Iterator[list[Vector]]:
        """As in the base class, on the nodes.

        Raises:
            UsageError: a node cannot open the encoder, or no node is left.
        """
        if batches:
            self._nodes.open(self)
            yield from self._nodes.encode(self, batches, pooling=pooling, layer=layer)
