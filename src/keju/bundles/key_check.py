"""`check_keys`: compare the key of each response with the key of the request in the run's manifest.

A key covers the prompt, the images and the model's identity. The check finds a changed identity,
prompt or setting, even if no score depends on it.
"""

from __future__ import annotations

from keju.bundles.manifest import responses_folder
from keju.bundles.reading import Bundle
from keju.bundles.verification import Findings
from keju.datasets.store import Dataset
from keju.errors import KejuError
from keju.running.request_rebuilding import RequestRebuilder
from keju.running.requests import request_key
from keju.runs import FORMAT, RunFolder, StoredItems, file_name
from keju.texts import _

_CHECK = "keys"


def check_keys(
    bundle: Bundle,
    run: RunFolder,
    dataset: Dataset | None,
    models: list[str],
    findings: Findings,
) -> None:
    """Compute the keys of all responses again, and compare them.

    A key is listed as not verified if its request cannot be built from the run and the dataset.

    Raises:
        DataError: a line of responses is damaged.
    """
    if bundle.run_manifest.format != FORMAT:
        return
    items, rebuilder = StoredItems(run.iter_items()), RequestRebuilder(run, dataset)
    for model in models:
        about = bundle.manifest.models[model]
        if about.cleaned:
            part = _("keys of the responses of {}", model)
            findings.add_not_verified(
                part,
                _("a secret or a local path was removed from the model's identity"),
                needed=False,
            )
            continue
        for response in run.responses(model):
            item = items.item_of(response)
            if item is None:
                continue
            try:
                request = rebuilder.request(item, response)
            except KejuError:
                part = _("keys of the responses of {}", model)
                reason = _("the bundle does not contain the text of the request")
                findings.add_not_verified(part, reason, count=1, needed=False)
                continue
            findings.add_compared(_CHECK)
            if request_key(request, about.identity, response.source_sha256) != response.key:
                member = f"{responses_folder(model)}/{file_name(response.task)}.jsonl"
                findings.add_difference(
                    _CHECK,
                    member,
                    item.id,
                    _(
                        "the key differs from the key of the request that run.json describes: the "
                        "model's identity, the prompt or a setting was changed"
                    ),
                )
