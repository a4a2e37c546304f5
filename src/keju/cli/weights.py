"""`keju weights`: list the weights that metrics and engines need."""

from __future__ import annotations

from msgspec.structs import asdict

from keju.cli.app import app, print_json, say
from keju.cli.options import AsJson
from keju.texts import _


@app.command()
def weights(*, as_json: AsJson = False) -> None:
    """List the weights that semantic metrics and engines need, with source, revision and SHA-256.

    keju does not download weights. To check yours, compare the SHA-256 of the file, for example
    with: sha256sum models/bert-base-chinese/model.safetensors
    """
    from keju.encoders.weights import known_weights
    from keju.scoring.metric import keju_metrics

    used: dict[str, dict[str, None]] = {}
    for metric in keju_metrics().values():
        used.setdefault(metric.encoder, {})[metric.name] = None
    if as_json:
        print_json(
            [{**asdict(row), "metrics": list(used.get(row.name, ()))} for row in known_weights()]
        )
        return
    unknown = _("unknown")
    for row in known_weights():
        say(_("{}: {}", row.name, row.hub))
        if row.name in used:
            say(_("  metrics: {}", ", ".join(used[row.name])))
        size = _("{} MB", row.megabytes) if row.megabytes else unknown
        say(_("  revision: {}; size: {}", row.revision or unknown, size))
        for name, sha256 in row.files.items():
            say(f"  {name}  {sha256}")
        if not row.files:
            say(_("  SHA-256: unknown"))
