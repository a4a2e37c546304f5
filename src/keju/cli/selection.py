"""Selection of items and prompt variants from the options of a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keju.running import Selection


def selection_of(
    *,
    task: list[str] | None,
    limit: int | None,
    sample: int | None,
    seed: int,
    rounds: int,
    setting: list[str] | None,
    script: list[str] | None,
    wording: list[str] | None,
    boxes: list[str] | None,
    item_list: Path | None,
    pairs: str | None,
    shard: str | None,
) -> Selection:
    """Return the selection that the options of `keju run` and `keju plan` describe.

    Raises:
        UsageError: a box convention or a pair form does not exist.
        DataError: the list of items cannot be read.
    """
    from keju.benchmarks.pair_forms import pair_form
    from keju.running import Selection
    from keju.running.box_conventions import parse_boxes
    from keju.running.item_list import read_item_ids

    for_all, of_model = parse_boxes(boxes or [])
    return Selection(
        tasks=tuple(task) if task else None,
        limit=limit,
        sample=sample,
        seed=seed,
        settings=tuple(setting or ["image"]),
        scripts=tuple(script or ["released"]),
        wordings=tuple(wording or ["released"]),
        boxes=for_all,
        boxes_of=of_model,
        rounds=rounds,
        shard=shard,
        items=read_item_ids(item_list) if item_list else None,
        pairs=None if pairs is None else pair_form(pairs).name,
    )
