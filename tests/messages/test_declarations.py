"""The catalogue `declarations`: the Chinese of texts that declarations have in English."""

from __future__ import annotations

from keju.messages import templates
from keju.models import model_kinds


def _of(kind: str) -> set[str]:
    found = templates("declarations", "en")
    return {each.text.source for name, each in found.items() if name.startswith(f"{kind}-")}


def test_every_kind_of_model_and_no_other_text_has_an_entry() -> None:
    declared = {kind.what for kind in model_kinds() if not kind.plugin}
    assert _of("model") == declared
