"""The JSON of ``keju score --json`` for scores in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from keju.items import Score
from keju.scoring import aggregate, encode_json, join_json, scores_frame


def to_json(scores: Sequence[Score]) -> Any:
    """The content of the file that the command writes."""
    return json.loads(b"".join(join_json([encode_json([scores_frame(scores)], aggregate(scores))])))
