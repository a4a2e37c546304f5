"""`check_keys`: whether the key of each response is that of the request which the run describes.

The key covers the prompt, the images and the model's identity. It names a changed identity, prompt
or setting of which no score depends.
"""

from __future__ import annotations

from keju.bundles.manifest import responses_folder
from keju.bundles.reading import Bundle
from keju.bundles.verification import Findings
from keju.datasets.store import Dataset
from keju.errors import KejuError
from keju.messages import message
from keju.running.cache_key import request_key
from keju.running.request_rebuilding import RequestRebuilder
from keju.runs import FORMAT, RunFolder, StoredItems, file_name

_CHECK = "keys"


def check_keys(
    bundle: Bundle,
    run: RunFolder,
    dataset: Dataset | None,
    models: list[str],
    findings: Findings,
) -> None:
    """Compute the keys of all responses again, where the run still has what they depend on.

    Raises:
        DataError: a line of responses is damaged.
    """
    if bundle.manifest.format != FORMAT:
        return
    items, rebuilder = StoredItems(run.iter_items()), RequestRebuilder(run, dataset)
    for model in models:
        about = bundle.about.models[model]
        if about.cleaned:
            part = message("bundles.part-keys", model=model)
            findings.not_verified(part, message("bundles.identity-cleaned"), needed=False)
            continue
        for response in run.responses(model):
            item = items.item_of(response)
            if item is None:
                continue
            try:
                request = rebuilder.request(item, response)
            except KejuError:
                part = message("bundles.part-keys", model=model)
                reason = message("bundles.request-not-rebuilt")
                findings.not_verified(part, reason, count=1, needed=False)
                continue
            findings.compared(_CHECK)
            if request_key(request, about.identity, response.source_sha256) != response.key:
                member = f"{responses_folder(model)}/{file_name(response.task)}.jsonl"
                findings.differs(_CHECK, member, item.id, message("bundles.key-differs"))
